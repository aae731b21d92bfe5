//! `das run`: one program, its output as it comes, and a line that says how it ended.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clap::Args;
use signal_hook::consts::SIGPIPE;

use super::policy_args::PolicyArgs;
use super::record_args::RecordArgs;
use super::report::{Form, Report};
use super::source::Source;
use super::{CliError, Exit, run_many, signals, status};
use crate::images::ensure::Progress;
use crate::outcome::Outcome;
use crate::runner::{Live, LiveWriter, Stopper};
use crate::sandbox::{Request, RunError, Sandbox};
use crate::sanitize::TerminalWriter;

/// Run a program in a fresh container and exit as it does.
///
/// Of several programs, or a directory of them, each runs in a container of its own, side by side.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    echo 'print(sum(range(10)))' | das run -\n  \
    das run job.py --timeout 30 --memory 512\n  \
    das run -c 'console.log(1 + 1)' -l node\n  \
    das run job.sh --json | jq .verdict\n  \
    das run tests/ --jobs 4 --junit report.xml\n\n\
    Exit codes: the program's own (success, error), 124 timeout, 137 out of memory, 126 or 127 \
    cannot start, 125 sandbox error (Docker, the image or das failed), 128 + signal cancelled, \
    2 usage or refused policy. Of several runs the worst counts: sandbox error, then not run, \
    cannot start, out of memory, timeout, and then the highest code of a program."
)]
pub(super) struct RunArgs {
    /// The program's file, or `-` for standard input; several files, or a directory, whose programs
    /// are told by their endings.
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// The program itself.
    #[arg(short, long, value_name = "CODE", conflicts_with_all = ["files", "junit"])]
    code: Option<String>,
    /// Its language: python, node, shell or one of the policy's [default: what the file's name or
    /// its `#!` line says, else python].
    #[arg(short, long, value_name = "LANGUAGE")]
    pub(super) language: Option<String>,
    /// Run so many of several programs at once [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: Option<u16>,
    /// Write what came of each program to this JUnit file.
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Print one JSON object instead of the program's output; of several programs one a line.
    #[arg(long)]
    json: bool,
    /// Print neither status nor hints of the program; warnings and other failures stay.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
}

impl RunArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        if self.is_of_many() {
            return run_many::execute(&self);
        }
        let source = Source::new(self.files.first().cloned(), self.code.clone())?;
        let base = self.policy.resolve()?;
        let code = source.read(&base)?;
        let language = match &self.language {
            Some(language) => language.clone(),
            None => source.language(&code, &base)?,
        };
        let sandbox = self.sandbox(&language)?;
        for warning in sandbox.policy().warnings() {
            status::warn(&warning);
        }
        let stopper = Stopper::default();
        signals::stop_on_signals(&stopper).map_err(CliError::Signals)?;
        signals::stop_on_closed_output(&stopper).map_err(CliError::Thread)?;
        let request = Request {
            live: self.live(),
            progress: self.progress(),
            stopper: stopper.clone(),
            ..Request::new(&language, &code)
        };
        let outcome = sandbox.run(request).map_err(|error| match error {
            RunError::Unrecorded(error) => CliError::Unrecorded(error),
            error @ (RunError::Refused(_)
            | RunError::Policy(_)
            | RunError::Code(_)
            | RunError::Audit(_)) => CliError::Run(error),
        })?;
        stopper.end();
        let exit = exit(&outcome);
        let form = self.form(&outcome);
        let report = Report { outcome, form, said: sandbox.policy().warnings() };
        let printed = match stopper.cause() {
            None => report.print(),
            // Whoever stops das does not wait for somebody who may not read what it prints.
            Some(_) => report.print_briefly(),
        };
        match printed {
            Err(CliError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Exit::Signal(SIGPIPE))
            }
            printed => printed.map(|()| exit),
        }
    }

    /// Several programs are told of in another way than one, whose output is shown as it comes.
    fn is_of_many(&self) -> bool {
        let directory = |path: &PathBuf| path.is_dir();
        self.files.len() > 1 || self.junit.is_some() || self.files.iter().any(directory)
    }

    pub(super) fn many_form(&self) -> run_many::Form {
        match (self.json, self.quiet) {
            (true, _) => run_many::Form::Json,
            (false, true) => run_many::Form::Failures,
            (false, false) => run_many::Form::Lines,
        }
    }

    fn form(&self, outcome: &Outcome) -> Form {
        if self.json {
            Form::Json
        } else if self.quiet && outcome.verdict.is_of_the_program() {
            Form::Warnings
        } else {
            Form::Talk
        }
    }

    pub(super) fn sandbox(&self, language: &str) -> Result<Sandbox, CliError> {
        self.record.sandbox(self.policy.resolve_for(language)?)
    }

    fn progress(&self) -> Progress {
        if self.json || self.quiet { Progress::Hidden } else { Progress::Shown(status::note) }
    }

    fn live(&self) -> Live {
        if self.json {
            return Live::default();
        }
        Live { stdout: Some(live_writer(io::stdout())), stderr: Some(live_writer(io::stderr())) }
    }
}

/// A terminal gets what could drive it escaped; anything else gets the bytes as they are.
fn live_writer<W: io::Write + IsTerminal + Send + 'static>(stream: W) -> LiveWriter {
    if stream.is_terminal() {
        Arc::new(Mutex::new(TerminalWriter::new(stream)))
    } else {
        Arc::new(Mutex::new(stream))
    }
}

fn exit(outcome: &Outcome) -> Exit {
    match outcome.signal {
        Some(signal) => Exit::Signal(signal),
        None => Exit::Code(outcome.process_exit_code()),
    }
}
