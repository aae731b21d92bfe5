//! Engines that do not do what they are told: every wait ends, and what is not known is said.

use std::path::Path;
use std::time::Duration;

use docker_agent_sandbox::engine::Patience;
use docker_agent_sandbox::outcome::classify::StopCause;
use docker_agent_sandbox::runner::Stopper;
use docker_agent_sandbox::{Outcome, Verdict};

use super::run;
use crate::support::{Answer, Daemon, InProcess, Orphan, Scenario, StandIn, Stop, Trigger};

/// The usual bounds, but the ones that a test has to wait for.
fn patience(change: impl FnOnce(&mut Patience)) -> Patience {
    let mut patience = Patience::default();
    change(&mut patience);
    patience
}

const SHORT: Duration = Duration::from_millis(300);

fn endless() -> Scenario {
    Scenario::program().runs_until_killed()
}

/// What is told of a run that had 0.2 seconds.
#[track_caller]
fn hurried(stand_in: &StandIn, patience: Patience) -> Outcome {
    InProcess::new(stand_in, 0.2, patience).run()
}

fn container(stand_in: &StandIn) -> String {
    stand_in.runs()[0].container().to_owned()
}

/// das says that it does not know, and how to mend it.
#[track_caller]
fn unconfirmed(stand_in: &StandIn, outcome: &Outcome) {
    assert_eq!(outcome.verdict, Verdict::SandboxError);
    let docker = stand_in.path();
    let removal = format!("`{} rm -f {}` removes it", docker.display(), container(stand_in));
    let warning = format!("the engine does not confirm that the container is gone: {removal}");
    assert_eq!(outcome.warnings, [warning]);
}

#[test]
fn a_kill_that_never_returns_is_followed_by_a_removal() {
    // As a user sees it, with the usual bounds.
    let stand_in = StandIn::playing(endless().kill(Stop::Hangs));
    run(&stand_in)
        .args(["--timeout", "0.2"])
        .stderr(
            "[sandbox] timeout in [TIME]\n[sandbox] hint: stopped after 0.2 s, its time limit; do \
             less work, or allow more time\n",
        )
        .status(124);
    stand_in.wait_until_empty();
}

#[test]
fn a_kill_that_does_nothing_is_followed_by_a_removal() {
    let stand_in = StandIn::playing(endless().kill(Stop::Ignored));
    let outcome = hurried(&stand_in, patience(|waits| waits.client = SHORT));
    assert_eq!((outcome.verdict, outcome.warnings.len()), (Verdict::Timeout, 0));
    stand_in.wait_until_empty();
}

#[test]
fn an_engine_that_neither_kills_nor_removes_leaves_the_end_unconfirmed() {
    for (kill, rm) in [
        (Stop::Hangs, Stop::Hangs),
        (Stop::Ignored, Stop::Ignored),
        (Stop::Answers(Answer::failure(1, "no\n")), Stop::Answers(Answer::failure(1, "no\n"))),
    ] {
        let stand_in = StandIn::playing(endless().kill(kill).rm(rm));
        let bounds = patience(|waits| {
            waits.client = SHORT;
            waits.stop = SHORT;
            waits.stoppable = SHORT;
            waits.appearance = SHORT;
        });
        let outcome = hurried(&stand_in, bounds);
        unconfirmed(&stand_in, &outcome);
        assert_eq!(
            outcome.hint.as_deref(),
            Some(
                "the deadline passed, and the engine does not confirm that the program is dead; \
                 check the engine, then `docker ps --filter label=docker-agent-sandbox`"
            )
        );
    }
}

#[test]
fn a_container_that_never_starts_is_removed_and_no_timeout() {
    let stand_in = StandIn::playing(endless().never_starts());
    let outcome = hurried(&stand_in, patience(|waits| waits.start = SHORT));
    assert_eq!((outcome.verdict, outcome.warnings.len()), (Verdict::SandboxError, 0));
    assert_eq!(
        outcome.hint.as_deref(),
        Some(
            "the engine did not start the container in time; the machine is overloaded or the \
             engine hangs: try again later"
        )
    );
    stand_in.wait_until_empty();
}

#[test]
fn an_engine_that_hangs_from_the_beginning_is_given_up() {
    let stand_in = StandIn::playing(endless().daemon(Daemon::Hangs));
    let bounds = patience(|waits| (waits.ask, waits.stop) = (SHORT, SHORT));
    unconfirmed(&stand_in, &hurried(&stand_in, bounds));
}

#[test]
fn an_engine_that_hangs_while_the_program_runs_is_given_up() {
    let program = Scenario::program().prints("4").daemon_goes(Daemon::Hangs).runs_until_killed();
    let stand_in = StandIn::playing(program);
    let bounds = patience(|waits| (waits.ask, waits.stop) = (SHORT, SHORT));
    let outcome = hurried(&stand_in, bounds);
    unconfirmed(&stand_in, &outcome);
    assert_eq!(outcome.stdout.text(), "4");
}

#[test]
fn an_engine_that_is_gone_at_the_deadline_is_given_up() {
    let program = Scenario::program().daemon_goes(Daemon::Down).runs_until_killed();
    let stand_in = StandIn::playing(program);
    let outcome = hurried(&stand_in, patience(|waits| waits.stoppable = SHORT));
    unconfirmed(&stand_in, &outcome);
}

#[test]
fn an_engine_that_comes_back_is_told_to_kill() {
    let program = Scenario::program().daemon_goes(Daemon::Down).runs_until_killed();
    let stand_in = StandIn::playing(program);
    let sandbox = InProcess::new(&stand_in, 0.2, Patience::default());
    let pending = sandbox.start();
    stand_in.wait_for_calls("kill", 2);
    stand_in.daemon_goes(Daemon::Up);
    let outcome = pending.wait();
    assert_eq!((outcome.verdict, outcome.warnings.len()), (Verdict::Timeout, 0));
    stand_in.wait_until_empty();
}

#[test]
fn a_container_that_appears_after_its_client_is_dead_is_removed() {
    for orphan in [Orphan::Created, Orphan::Running] {
        let late = endless().created_late(Trigger::file("go"), orphan);
        let stand_in = StandIn::playing(late);
        let bounds = patience(|waits| {
            (waits.start, waits.stoppable) = (SHORT, SHORT);
            waits.appearance = Duration::from_secs(20);
        });
        let sandbox = InProcess::new(&stand_in, 0.2, bounds);
        let pending = sandbox.start();
        let client = format!("/proc/{}", stand_in.wait_for_call("run").pid);
        stand_in.eventually("the client's end", || (!Path::new(&client).exists()).then_some(()));
        let before = stand_in.calls_of("rm").len();
        stand_in.wait_for_calls("rm", before + 1);
        stand_in.trigger("go");
        let outcome = pending.wait();
        assert_eq!((outcome.verdict, outcome.warnings.len()), (Verdict::SandboxError, 0));
        stand_in.wait_until_empty();
    }
}

#[test]
fn a_caller_can_end_a_run_before_and_after_its_beginning() {
    let stand_in = StandIn::playing(endless());
    let sandbox = InProcess::new(&stand_in, 600.0, Patience::default());
    let stopper = Stopper::default();
    let running = sandbox.start_with(stopper.clone());
    let name = stand_in.wait_for_call("run").container().to_owned();
    stand_in.wait_for_container(&name, "running");
    stopper.stop(StopCause::Caller);
    let outcome = running.wait();
    assert_eq!((outcome.verdict, outcome.signal), (Verdict::Cancelled, None));
    stand_in.wait_until_empty();

    let outcome = sandbox.start_with(stopper).wait();
    assert_eq!(outcome.verdict, Verdict::Cancelled);
    assert_eq!(stand_in.runs().len(), 1, "it ran all the same");
}
