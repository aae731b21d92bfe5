//! `das policy`: the effective policy, and what a policy may say.

use std::io::{self, Write as _};

use clap::{Args, Subcommand};

use super::policy_args::PolicyArgs;
use super::{CliError, Exit};
use crate::language::DEFAULT_LANGUAGE;
use crate::plan::CheckedPolicy;
use crate::policy;

/// Print the effective policy as JSON; fed back with --policy, it changes nothing.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    after_help = "Examples:\n  \
        das policy > policy.json\n  \
        das policy --policy policy.json --memory 512\n  \
        das policy schema\n\n\
        Every key has a default; unknown keys and values out of range are refused."
)]
pub(super) struct PolicyCommand {
    #[command(subcommand)]
    command: Option<PolicySubcommand>,
    #[command(flatten)]
    policy: PolicyArgs,
}

#[derive(Debug, Subcommand)]
enum PolicySubcommand {
    /// Print the JSON Schema of policy files.
    Schema,
}

impl PolicyCommand {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let text = match self.command {
            Some(PolicySubcommand::Schema) => {
                let mut text = serde_json::to_string_pretty(&policy::json_schema())
                    .expect("a schema is plain data");
                text.push('\n');
                text
            }
            None => {
                let policy = self.policy.resolve_for(DEFAULT_LANGUAGE)?;
                let json = policy.to_json();
                // What would be refused at the run is refused here too.
                CheckedPolicy::new(policy).map_err(CliError::Refused)?;
                json
            }
        };
        io::stdout().lock().write_all(text.as_bytes()).map_err(CliError::Write)?;
        Ok(Exit::Code(0))
    }
}
