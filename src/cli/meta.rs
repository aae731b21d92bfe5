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

/// Print a manual page, in roff: das's own, or a command's.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  das man | man -l -\n  das man image build | man -l -")]
pub(super) struct ManArgs {
    /// The command, such as `run` or `image build`.
    command: Vec<String>,
}

impl ManArgs {
    pub(super) fn execute(&self, das: &clap::Command) -> Result<Exit, CliError> {
        let mut command = das.clone().disable_help_subcommand(true);
        command.build();
        for name in &self.command {
            let found = command.find_subcommand(name).cloned();
            command = found.ok_or_else(|| CliError::NoCommand { words: self.command.join(" ") })?;
        }
        let title = command.get_display_name().unwrap_or("das").to_owned();
        let mut page = Vec::new();
        clap_mangen::Man::new(command).title(title).render(&mut page).map_err(CliError::Write)?;
        io::stdout().lock().write_all(&page).map_err(CliError::Write)?;
        Ok(Exit::Code(0))
    }
}
