//! What is printed of many runs: a line for each, the output of those that failed, JSON, JUnit.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use super::Ran;
use crate::capture::Captured;
use crate::junit::{Case, CaseResult, Reason};
use crate::outcome::{Outcome, Verdict};
use crate::sanitize;

/// What is printed on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Form {
    /// One JSON object a line.
    Json,
    /// A line for each run.
    Lines,
    /// The same for those alone that failed.
    Failures,
}

/// One line of JSON: what a single run prints, and which it was.
#[derive(Serialize)]
struct Named<'a> {
    file: &'a str,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

/// The same for a program that was not run.
#[derive(Serialize)]
struct NotRun<'a> {
    file: &'a str,
    error: &'a str,
}

/// Prints one run.
pub(super) fn run(ran: &Ran, form: Form) -> io::Result<()> {
    let text = match form {
        Form::Json => json(ran),
        Form::Failures if ran.succeeded() => return Ok(()),
        Form::Lines | Form::Failures => lines(ran),
    };
    print(&text, form)
}

/// Prints the sums.
pub(super) fn summary(text: &str, form: Form) -> io::Result<()> {
    match form {
        Form::Lines => print(&format!("{text}\n"), form),
        Form::Json | Form::Failures => Ok(()),
    }
}

/// What programs print and files are called must not drive a terminal.
fn print(text: &str, form: Form) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let text = match form {
        Form::Lines | Form::Failures if stdout.is_terminal() => sanitize::escape(text),
        // In JSON it is escaped already.
        Form::Json | Form::Lines | Form::Failures => Cow::Borrowed(text),
    };
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

fn json(ran: &Ran) -> String {
    let line = match &ran.result {
        Ok(outcome) => serde_json::to_string(&Named { file: &ran.name, outcome }),
        Err(error) => serde_json::to_string(&NotRun { file: &ran.name, error: &error.chain() }),
    };
    format!("{}\n", line.expect("an outcome is plain data"))
}

fn lines(ran: &Ran) -> String {
    let name = &ran.name;
    let outcome = match &ran.result {
        Ok(outcome) => outcome,
        Err(error) => return format!("not run: {name}: {}\n", error.chain()),
    };
    let seconds = outcome.duration.as_secs_f64();
    let mut text = format!("{}: {name} in {seconds:.2}s\n", ending(outcome));
    if !ran.succeeded() {
        add(&mut text, "stdout", &outcome.stdout);
        add(&mut text, "stderr", &outcome.stderr);
        if let Some(hint) = &outcome.hint {
            writeln!(text, "  hint: {hint}").expect("a string takes everything");
        }
    }
    text
}

/// Each line of a stream, marked as what it is.
fn add(text: &mut String, stream: &str, captured: &Captured) {
    for line in captured.text().lines() {
        writeln!(text, "  {stream}: {line}").expect("a string takes everything");
    }
}

/// The verdict, with the code that the program chose, where the verdict does not tell it.
fn ending(outcome: &Outcome) -> String {
    let name = outcome.verdict.name();
    match (outcome.verdict, outcome.exit_code) {
        (Verdict::Error | Verdict::CannotStart, Some(code)) => format!("{name} (exit code {code})"),
        _ => name.to_owned(),
    }
}

/// The run as a case of a JUnit file. Where das or Docker failed, it is an error.
pub(super) fn case(ran: &Ran) -> Case {
    let name = ran.name.clone();
    let outcome = match &ran.result {
        Ok(outcome) => outcome,
        Err(error) => {
            let result = CaseResult::Error(reason("not_run", &error.chain(), ""));
            let (class, stdout, stderr) = (String::new(), String::new(), String::new());
            return Case { class, name, seconds: None, result, stdout, stderr };
        }
    };
    let hint = outcome.hint.as_deref().unwrap_or_default();
    let why = reason(outcome.verdict.name(), &ending(outcome), hint);
    let result = match outcome.verdict {
        Verdict::Success => CaseResult::Passed,
        Verdict::Error | Verdict::Timeout | Verdict::OutOfMemory => CaseResult::Failed(why),
        Verdict::CannotStart | Verdict::SandboxError => CaseResult::Error(why),
        Verdict::Cancelled => CaseResult::Skipped("das was stopped".to_owned()),
    };
    Case {
        class: outcome.language.to_string(),
        name,
        seconds: Some(outcome.duration_seconds()),
        result,
        stdout: outcome.stdout.text().into_owned(),
        stderr: outcome.stderr.text().into_owned(),
    }
}

fn reason(kind: &str, message: &str, details: &str) -> Reason {
    let [kind, message, details] = [kind, message, details].map(str::to_owned);
    Reason { kind, message, details }
}
