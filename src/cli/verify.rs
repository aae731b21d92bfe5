//! `das verify`: runs the probe of every wall, and says which hold.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::Args;

use super::policy_args::PolicyArgs;
use super::{CliError, Exit, signals};
use crate::language::DEFAULT_LANGUAGE;
use crate::outcome::classify::StopCause;
use crate::verify::{self, Event, Finding, Order, Report, Stoppers, junit, table};
use crate::walls::{WALLS, Wall};

/// What a verification exits with in which some wall is not known to hold.
const NOT_HELD: u8 = 1;

/// Run the probe of every wall with this policy, image and engine, and say which hold.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    das verify\n  \
    das verify --only network --only memory\n  \
    das verify -l shell --image busybox:1.37\n  \
    das verify --policy policy.json --json | jq .holds\n\n\
    HELD: the kernel itself refused, or the limit struck. BROKEN: it did not. OPEN: the policy \
    says so. UNKNOWN: nobody can say, for the reason given.\n\n\
    Exit codes: 0 all that the policy promises holds, 1 some wall is BROKEN or UNKNOWN, \
    2 usage or refused policy, 125 there is no engine, 128 + signal cancelled."
)]
pub(super) struct VerifyArgs {
    /// The language of the probes: python, node or shell. In shell, any image with `sh` can be
    /// verified.
    #[arg(short, long, value_name = "LANGUAGE", default_value = DEFAULT_LANGUAGE)]
    language: String,
    /// Verify this wall alone; may be repeated.
    #[arg(long, value_name = "WALL")]
    only: Vec<Wall>,
    /// Print one JSON object instead of the table.
    #[arg(long)]
    json: bool,
    /// Also write a JUnit file, one test case for each wall.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArgs,
}

impl VerifyArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let order = Order {
            policy: self.policy.resolve_for(&self.language)?,
            language: self.language.clone(),
            walls: self.walls(),
        };
        let stoppers = Stoppers::default();
        let stopped = stoppers.clone();
        signals::on_first_signal(move |signal| stopped.stop(StopCause::Signal(signal)))
            .map_err(CliError::Signals)?;
        let mut live = Live::new(&order.walls, if self.json { Form::Json } else { Form::Table });
        let report = verify::verify(&order, &stoppers, &mut |event| live.hear(event));
        live.clear();
        let report = report.map_err(CliError::Verify)?;
        self.write_junit(&report)?;
        match live.written.and_then(|()| self.conclude(&report)) {
            // Whoever reads no further still gets the exit code.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Write(error)),
            Ok(()) | Err(_) => Ok(exit(&report)),
        }
    }

    /// In the order of the table, each once.
    fn walls(&self) -> Vec<Wall> {
        let wanted = |wall: &Wall| self.only.is_empty() || self.only.contains(wall);
        WALLS.iter().map(|row| row.wall).filter(wanted).collect()
    }

    /// What stands below the table, or instead of it.
    fn conclude(&self, report: &Report) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        if self.json {
            let line = serde_json::to_string(report).expect("a report is plain data");
            writeln!(out, "{line}")?;
        } else {
            table::summary(report, &mut out)?;
        }
        out.flush()
    }

    fn write_junit(&self, report: &Report) -> Result<(), CliError> {
        let Some(path) = &self.junit else { return Ok(()) };
        let text = junit::suite(report).to_xml();
        fs::write(path, text).map_err(|source| CliError::WriteFile { path: path.clone(), source })
    }
}

fn exit(report: &Report) -> Exit {
    match report.stopped {
        Some(StopCause::Signal(signal)) => Exit::Signal(signal),
        Some(StopCause::Deadline | StopCause::OutputClosed | StopCause::Caller) | None => {
            Exit::Code(if report.holds() { 0 } else { NOT_HELD })
        }
    }
}

/// The table while it grows: each wall in its place as soon as it and those above it are judged.
/// On a terminal a line below it tells of those that are judged already.
struct Live {
    waiting: VecDeque<Wall>,
    judged: BTreeMap<Wall, Finding>,
    total: usize,
    form: Form,
    ticker: bool,
    /// Whether all could be written.
    written: io::Result<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Json,
}

impl Live {
    fn new(walls: &[Wall], form: Form) -> Self {
        Self {
            waiting: walls.iter().copied().collect(),
            judged: BTreeMap::new(),
            total: walls.len(),
            form,
            ticker: io::stderr().is_terminal(),
            written: Ok(()),
        }
    }

    fn hear(&mut self, event: Event<'_>) {
        self.clear();
        match (event, self.form) {
            (Event::Begun(subject), Form::Table) => {
                self.write(|out| table::heading(subject, out));
            }
            (Event::Judged(finding), _) => {
                self.judged.insert(finding.wall, finding.clone());
                self.grow();
            }
            (Event::Begun(_), Form::Json) => {}
        }
        self.tick(event);
    }

    /// Writes the rows whose turn it is.
    fn grow(&mut self) {
        while let Some(finding) = self.waiting.front().and_then(|wall| self.judged.get(wall)) {
            let finding = finding.clone();
            self.waiting.pop_front();
            if self.form == Form::Table {
                self.write(|out| table::row(&finding, out));
            }
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        if self.written.is_ok() {
            let mut out = anstream::stdout().lock();
            self.written = write(&mut out).and_then(|()| out.flush());
        }
    }

    /// A closed stderr has no reader to mind.
    fn tick(&self, event: Event<'_>) {
        if !self.ticker || self.waiting.is_empty() {
            return;
        }
        let last = match event {
            Event::Begun(_) => String::new(),
            Event::Judged(Finding { wall, state, evidence: _ }) => {
                format!(", {wall} {}", state.name())
            }
        };
        let text = format!("{} of {} walls{last}", self.judged.len(), self.total);
        write!(io::stderr().lock(), "\r\x1b[K{text}").ok();
    }

    fn clear(&self) {
        if self.ticker {
            write!(io::stderr().lock(), "\r\x1b[K").ok();
        }
    }
}
