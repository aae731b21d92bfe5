//! `das run`: one program, its output as it comes, and a line that says how it ended.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clap::Args;
use signal_hook::consts::SIGPIPE;

use super::policy_args::{PolicyArgs, path_or_nothing};
use super::report::{Form, Report};
use super::source::Source;
use super::{CliError, Exit, signals, status};
use crate::audit::AuditLog;
use crate::images::ensure::Progress;
use crate::outcome::Outcome;
use crate::outcome::classify::StopCause;
use crate::runner::{Live, LiveWriter, Stopper};
use crate::sandbox::{Request, RunError, Sandbox};
use crate::sanitize::TerminalWriter;

/// Run a program in a fresh container and exit as it does.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    echo 'print(sum(range(10)))' | das run -\n  \
    das run job.py --timeout 30 --memory 512\n  \
    das run -c 'console.log(1 + 1)' -l node\n  \
    das run job.sh --json | jq .verdict\n\n\
    Exit codes: the program's own; 124 timeout, 137 out of memory, 126 and 127 it cannot start,\n\
    125 Docker or das failed, 128 + signal cancelled, 2 usage or refused policy."
)]
pub(super) struct RunArgs {
    /// The program's file, or `-` for standard input.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The program itself.
    #[arg(short, long, value_name = "CODE", conflicts_with = "file")]
    code: Option<String>,
    /// Its language: python, node, shell or one of the policy's [default: what the file's name or
    /// its `#!` line says, else python].
    #[arg(short, long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Print one JSON object instead of the program's output.
    #[arg(long)]
    json: bool,
    /// Print neither status nor hints of the program; warnings and other failures stay.
    #[arg(short, long)]
    quiet: bool,
    /// Append a JSON line for each run to this file; without it nothing runs.
    #[arg(long, value_name = "FILE", env = "DAS_AUDIT_LOG", value_parser = path_or_nothing())]
    audit_log: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArgs,
}

impl RunArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let source = Source::new(self.file.clone(), self.code.clone())?;
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
        signals::stop_on_closed_output(&stopper);
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
        let exit = exit(&outcome, stopper.cause());
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

    fn form(&self, outcome: &Outcome) -> Form {
        if self.json {
            Form::Json
        } else if self.quiet && outcome.verdict.is_of_the_program() {
            Form::Warnings
        } else {
            Form::Talk
        }
    }

    fn sandbox(&self, language: &str) -> Result<Sandbox, CliError> {
        let policy = self.policy.resolve_for(language)?;
        let sandbox = Sandbox::new(policy).map_err(CliError::Refused)?;
        let log = self.audit_log.as_ref().filter(|path| !path.as_os_str().is_empty());
        Ok(match log {
            Some(path) => sandbox.with_audit(AuditLog::new(path)),
            None => sandbox,
        })
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

/// A signal ends das as it would have without das, whatever the program did meanwhile.
fn exit(outcome: &Outcome, stopped: Option<StopCause>) -> Exit {
    match (stopped, outcome.signal) {
        (Some(StopCause::Signal(signal)), _) | (_, Some(signal)) => Exit::Signal(signal),
        _ => Exit::Code(outcome.process_exit_code()),
    }
}
