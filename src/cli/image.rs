//! `das image`: the images that programs run in.

use clap::{Args, Subcommand};

use super::policy_args::PolicyFileArgs;
use super::{CliError, Exit};
use crate::engine::Engine;
use crate::engine::find::{self, HostEnv};
use crate::policy::SandboxPolicy;

mod build;
mod list;
mod pull;

/// See, fetch and make the images that programs run in.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    das image list\n  \
    das image pull python\n  \
    das image build python\n  \
    das image build python --with numpy --with pandas")]
pub(super) struct ImageCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(list::ListArgs),
    Pull(pull::PullArgs),
    Build(build::BuildArgs),
}

impl ImageCommand {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        match self.action {
            Action::List(args) => args.execute(),
            Action::Pull(args) => args.execute(),
            Action::Build(args) => args.execute(),
        }
    }
}

/// The policy, and the engine that it chooses.
fn resolve(args: &PolicyFileArgs) -> Result<(SandboxPolicy, Engine), CliError> {
    let policy = args.resolve()?;
    let engine = find::find(&policy.engine, &HostEnv::current()).map_err(CliError::NoEngine)?;
    Ok((policy, engine))
}
