//! `das doctor`: what on this machine keeps das from running or weakens it.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use super::policy_args::PolicyArgs;
use super::{CliError, Exit, signals, status};
use crate::doctor::{Examination, Report, write_report};
use crate::language::DEFAULT_LANGUAGE;
use crate::runner::Stopper;

/// Look for what keeps das from running here, or weakens it, and say how to mend it.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    das doctor\n  \
    das doctor --engine podman\n  \
    das doctor --json | jq '.findings[] | select(.state == \"weak\")'\n\n\
    Each finding is ok, note (could be stronger), weak (a wall is missing or low), broken (nothing \
    can run) or unknown (the check itself failed). Limits are read inside a container that runs \
    under the policy; nothing is pulled, changed or removed.\n\n\
    Exit codes: 0 usable, weaknesses or not; 1 not usable; 2 usage or refused policy."
)]
pub(super) struct DoctorArgs {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Also try whether runs can be recorded in this file.
    #[arg(long, value_name = "FILE", env = "DAS_AUDIT_LOG")]
    audit_log: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArgs,
}

impl DoctorArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let policy = self.policy.resolve_for(DEFAULT_LANGUAGE)?;
        let stopper = Stopper::default();
        signals::stop_on_signals(&stopper).map_err(CliError::Signals)?;
        let log = self.audit_log.clone().filter(|path| !path.as_os_str().is_empty());
        let examination = Examination::new(policy, log, stopper).map_err(CliError::Refused)?;
        let report = examination.report(|checks| {
            if !self.json {
                status::note(&format!("still checking: {}", checks.join(", ")));
            }
        });
        self.print(&report).map_err(CliError::Write)?;
        Ok(Exit::Code(u8::from(!report.usable)))
    }

    fn print(&self, report: &Report) -> io::Result<()> {
        if self.json {
            let text = serde_json::to_string(report).expect("a report is plain data");
            return writeln!(io::stdout().lock(), "{text}");
        }
        write_report(report, &mut anstream::stdout().lock())
    }
}
