//! `das audit`: checks and reads audit logs.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{CliError, Exit};

mod show;
mod table;
mod time;
mod verify;

/// Check an audit log, or ask it what ran.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    das audit verify audit.jsonl\n  \
    das audit show audit.jsonl --last 20\n  \
    das audit show audit.jsonl --code job.py\n\n\
    `das run --audit-log FILE` and `das mcp --audit-log FILE` write it: one JSON line for each \
    run. `seq` is the line's number, `prev_sha256` the SHA-256 of the line before, without its \
    line feed; the first line of a file has 1 and 64 zeros. A line that a power cut tore stays as \
    it is, and the next record counts it and vouches for its bytes. A log may be renamed at any \
    time: the next record begins a new file.")]
pub(super) struct AuditCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Verify(verify::VerifyArgs),
    Show(Box<show::ShowArgs>),
}

impl AuditCommand {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        match self.action {
            Action::Verify(args) => args.execute(),
            Action::Show(args) => args.execute(),
        }
    }
}

fn open(path: &Path) -> Result<File, CliError> {
    File::open(path).map_err(|source| CliError::Read { path: path.to_owned(), source })
}

fn open_all(paths: &[PathBuf]) -> Result<Vec<File>, CliError> {
    paths.iter().map(|path| open(path)).collect()
}
