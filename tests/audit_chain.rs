//! The audit log, written by the real `das` and asked through it.

mod show;
mod verify;
mod writing;

use std::fs;
use std::path::PathBuf;

use crate::support::{Das, Place, Scenario, StandIn};

/// Programs that the stand-in runs by a word in their code.
fn stand_in() -> StandIn {
    let program = Scenario::program;
    StandIn::playing(
        program().acts_on_code(&[("fail", program().exits(3)), ("good", program().exits(0))]),
    )
}

fn das<'a>(stand_in: &'a StandIn, args: &[&str]) -> Das<'a> {
    Das::new(stand_in).args(args.iter().copied())
}

fn log(stand_in: &StandIn) -> PathBuf {
    stand_in.home().join("log")
}

/// Runs a program that is recorded in `log`.
#[track_caller]
fn record(stand_in: &StandIn, code: &str) {
    let finished = das(stand_in, &["run", "-q", "--audit-log", "log", "-c", code]).output();
    assert_eq!(finished.stderr_text(), "");
}

#[track_caller]
fn lines(stand_in: &StandIn) -> Vec<String> {
    let text = fs::read_to_string(log(stand_in)).expect("a log");
    text.lines().map(str::to_owned).collect()
}

fn write(stand_in: &StandIn, lines: &[String]) {
    fs::write(log(stand_in), lines.join("\n") + "\n").expect("a writable directory");
}
