//! The container dies, whatever ends the run and in whichever phase, and das answers.

mod closed_output;
mod deadline;
mod faults;
mod signals;
mod strays;

use crate::support::{Das, Running, StandIn};

/// `das run` of a program that has all the time it wants.
fn run(stand_in: &StandIn) -> Das<'_> {
    Das::new(stand_in).args(["run", "-c", "pass", "--timeout", "600"])
}

/// Starts it and waits until its program runs.
fn runs_on(stand_in: &StandIn) -> Running<'_> {
    let running = run(stand_in).spawn();
    let run = stand_in.wait_for_call("run");
    stand_in.wait_for_container(run.container(), "running");
    running
}
