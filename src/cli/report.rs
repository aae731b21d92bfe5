//! What `das run` prints when the run is over.

use std::io::{self, Write as _};
use std::sync::mpsc;
use std::time::Duration;

use super::{CliError, status};
use crate::outcome::Outcome;
use crate::threads;

/// How long the last words of a das that was told to end may take.
const LAST_WORDS_BOUND: Duration = Duration::from_millis(500);

/// What is to be printed of an outcome.
#[derive(Debug)]
pub(super) struct Report {
    /// The outcome.
    pub(super) outcome: Outcome,
    /// How much of it.
    pub(super) form: Form,
    /// The warnings that were printed before the run.
    pub(super) said: Vec<String>,
}

/// How much of an outcome is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All of it, as one JSON object on standard output.
    Json,
    /// How it ended and what to do about it, on standard error.
    Talk,
    /// Warnings alone.
    Warnings,
}

impl Report {
    /// Prints it, for as long as its reader takes.
    pub(super) fn print(self) -> Result<(), CliError> {
        match self.form {
            Form::Json => return print_json(&self.outcome).map_err(CliError::Write),
            Form::Talk | Form::Warnings => {}
        }
        let new = |warning: &&String| !self.said.contains(warning);
        self.outcome.warnings.iter().filter(new).for_each(|warning| status::warn(warning));
        if self.form == Form::Talk {
            status::print(&self.outcome);
        }
        Ok(())
    }

    /// Prints it, unless its reader keeps das waiting.
    pub(super) fn print_briefly(self) -> Result<(), CliError> {
        let (sender, printed) = mpsc::sync_channel(1);
        threads::spawn("das-report", move || sender.send(self.print())).map_err(CliError::Write)?;
        printed.recv_timeout(LAST_WORDS_BOUND).unwrap_or(Ok(()))
    }
}

fn print_json(outcome: &Outcome) -> io::Result<()> {
    let mut line = serde_json::to_vec(outcome).expect("an outcome is plain data");
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
