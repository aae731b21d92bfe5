//! `das audit show`: what ran, when, and how it ended.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::{open, open_all, table, time};
use crate::audit::{Entry, Filter, Kept, select};
use crate::cli::{CliError, Exit, status};
use crate::digest;
use crate::language::canonical_name;
use crate::outcome::Verdict;
use crate::sanitize::TerminalWriter;

/// What it exits with where nothing was found, as `grep` does.
const NOTHING: u8 = 1;

/// Print the runs of an audit log.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    das audit show audit.jsonl --last 20\n  \
    das audit show audit.jsonl --verdict timeout --since 2h\n  \
    das audit show audit.jsonl.1 audit.jsonl --code job.py  # did it run?\n  \
    das audit show audit.jsonl --json | jq -r .image\n\n\
    A TIME is a date, a date with a time, both in UTC unless they say otherwise, or how long ago: \
    2026-01-31, 2026-01-31T12:00:00Z, 90m, 7d.\n\n\
    Exit codes: 0 something was found, 1 nothing was, 2 a log cannot be read."
)]
pub(super) struct ShowArgs {
    /// The log; with several, the oldest first.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only runs that ended so; may be repeated.
    #[arg(long, value_name = "VERDICT")]
    verdict: Vec<Verdict>,
    /// Only runs in this language; may be repeated.
    #[arg(long, value_name = "LANGUAGE")]
    language: Vec<String>,
    /// Only runs of exactly this program, by its SHA-256; `-` reads it from standard input.
    #[arg(long, value_name = "FILE")]
    code: Option<PathBuf>,
    /// Only runs that were over at this time or later.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    since: Option<jiff::Timestamp>,
    /// Only runs that were over before this time.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    until: Option<jiff::Timestamp>,
    /// Only the last N of them.
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Print the lines as they are in the log.
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let files = open_all(&self.files)?;
        let kept = self.last.map_or(Kept::All, Kept::Last);
        let json = self.json;
        let filter = self.filter()?;
        let mut out = output();
        let mut found = 0_u64;
        let others = select(files, &filter, kept, |entry| {
            if found == 0 && !json {
                out.write_all(table::HEADER.as_bytes()).map_err(Failure::Write)?;
            }
            found += 1;
            let line = if json { json_line(entry) } else { table::row(&entry).into_bytes() };
            out.write_all(&line).map_err(Failure::Write)
        })
        .and_then(|others| out.flush().map_err(Failure::Write).map(|()| others));
        match others {
            Ok(0) => {}
            Ok(others) => status::warn(&format!(
                "{others} lines are no records; `das audit verify` tells more"
            )),
            Err(Failure::Write(error)) => return Err(CliError::Write(error)),
            Err(Failure::Read(error)) => return Err(CliError::ReadLog(error)),
        }
        Ok(Exit::Code(if found > 0 { 0 } else { NOTHING }))
    }

    fn filter(self) -> Result<Filter, CliError> {
        Ok(Filter {
            verdicts: self.verdict,
            languages: self.language.iter().map(|name| canonical_name(name)).collect(),
            code_sha256: self.code.as_deref().map(digest_of).transpose()?,
            since: self.since,
            until: self.until,
        })
    }
}

enum Failure {
    Read(io::Error),
    Write(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn digest_of(path: &Path) -> Result<String, CliError> {
    if path == Path::new("-") {
        return digest::sha256_of(io::stdin().lock()).map_err(CliError::ReadStdin);
    }
    let read = |source| CliError::Read { path: path.to_owned(), source };
    digest::sha256_of(open(path)?).map_err(read)
}

fn json_line(entry: Entry) -> Vec<u8> {
    let mut line = entry.line;
    line.push(b'\n');
    line
}

/// A log may have been edited, so a terminal gets what could drive it escaped.
fn output() -> Box<dyn Write> {
    let stdout = io::stdout();
    let terminal = stdout.is_terminal();
    let buffered = io::BufWriter::new(stdout.lock());
    if terminal { Box::new(TerminalWriter::new(buffered)) } else { Box::new(buffered) }
}
