//! `das mcp`: serves MCP clients, and prints what they are configured with.

mod client;
mod config;
mod format;
mod parent;
mod serve;

use clap::{Args, Subcommand};

use super::policy_args::PolicyArgs;
use super::record_args::RecordArgs;
use super::{CliError, Exit};

/// Serve `run_code` to an MCP client on standard input and output.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    das mcp --policy strict.json --audit-log audit.jsonl\n  \
    das mcp config claude-code\n\n\
    A client starts this command and speaks with it; it ends when the client closes its side. \
    Every call runs in a container of its own; calls beyond `max_concurrent` wait."
)]
pub(super) struct McpArgs {
    #[command(subcommand)]
    command: Option<McpCommand>,
    #[command(flatten)]
    serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    Config(Box<config::ConfigArgs>),
}

/// What a server is set up with.
#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    policy: PolicyArgs,
}

impl McpArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        match self.command {
            None => self.serve.execute(),
            Some(McpCommand::Config(args)) => args.execute(),
        }
    }
}
