//! `das completions` and `das man`: made from the command line's own definition.

use std::io::{self, Write as _};

use clap::Args;
use clap_complete::Shell;

use super::{CliError, Exit};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  das completions bash > ~/.local/share/bash-completion/completions/das"
)]
pub(super) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn execute(&self, command: &mut clap::Command) -> Result<Exit, CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, command, "das", &mut script);
        io::stdout().lock().write_all(&script).map_err(CliError::Write)?;
        Ok(Exit::Code(0))
    }
}

/// Print the manual page, in roff.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  das man | man -l -")]
pub(super) struct ManArgs {}

impl ManArgs {
    #[expect(clippy::unused_self, reason = "every command is executed the same way")]
    pub(super) fn execute(&self, command: &clap::Command) -> Result<Exit, CliError> {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page).map_err(CliError::Write)?;
        io::stdout().lock().write_all(&page).map_err(CliError::Write)?;
        Ok(Exit::Code(0))
    }
}
