//! How a run ended: every verdict with its exit code, its words and its way out.

mod clock;
mod engine;
mod json;
mod program;
mod quiet;

use crate::support::{Das, StandIn};

/// `das run` of a program that the scenario plays.
fn run(stand_in: &StandIn) -> Das<'_> {
    Das::new(stand_in).args(["run", "-c", "pass"])
}

/// What das says at the end, and the hint.
fn said(ending: &str, hint: &str) -> String {
    format!("[sandbox] {ending} in [TIME]\n[sandbox] hint: {hint}\n")
}
