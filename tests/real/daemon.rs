//! A daemon that is away, does not answer or dies: das answers in time, says what it knows, and
//! leaves nothing once the daemon is back.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::limits::outcome;
use crate::support::{Finished, Running, SecondDaemon};

/// All of das's own bounds together, and the time for a busy machine to get there.
const BOUND: Duration = Duration::from_mins(1);

const ENDLESS: [&str; 7] = ["run", "-l", "shell", "--json", "--timeout", "4", "-c"];

#[track_caller]
fn start(daemon: &SecondDaemon) -> Running<'_> {
    let running = daemon.das().args(ENDLESS).arg("echo on; sleep 600").spawn();
    daemon.wait_for_container();
    running
}

#[track_caller]
fn verdict(finished: &Finished) -> (Value, String) {
    let outcome = outcome(finished);
    assert_eq!(finished.code(), Some(125), "{outcome}");
    let hint = outcome["hint"].as_str().unwrap_or_default().to_owned();
    (outcome, hint)
}

fn says_unconfirmed(outcome: &Value) -> bool {
    outcome["warnings"].to_string().contains("does not confirm that the container is gone")
}

#[test]
#[ignore = "needs Docker and root: a daemon of its own that is stopped"]
fn without_a_daemon_nothing_runs_and_the_hint_says_what_to_do() {
    let mut daemon = SecondDaemon::start();
    daemon.stop();
    let (outcome, hint) = verdict(&daemon.das().args(ENDLESS).arg("echo on").output());
    assert_eq!(outcome["verdict"], "sandbox_error");
    assert_eq!(outcome["stdout"], "");
    assert!(hint.contains("cannot be reached") && hint.contains("start Docker"), "{hint}");
    daemon.restart();
    assert_eq!(daemon.containers(), Vec::<String>::new());
    let again = daemon.das().args(["run", "-l", "shell", "-c", "echo on"]);
    again.stdout("on\n").stderr("[sandbox] success in [TIME]\n").status(0);
}

#[test]
#[ignore = "needs Docker and root: a daemon of its own that is frozen before a run"]
fn a_daemon_that_does_not_answer_holds_nobody_up_for_ever() {
    let daemon = SecondDaemon::start();
    daemon.freeze();
    let begun = Instant::now();
    let running = daemon.das().args(ENDLESS).arg("sleep 600").spawn();
    let finished = running.wait_at_most(BOUND);
    assert!(begun.elapsed() < BOUND);
    let (outcome, _) = verdict(&finished);
    assert_eq!(outcome["verdict"], "sandbox_error");
    assert!(says_unconfirmed(&outcome), "{outcome}");
    daemon.thaw();
    daemon.wait_until_empty();
}

#[test]
#[ignore = "needs Docker and root: a daemon of its own that is frozen during a run"]
fn a_daemon_that_freezes_during_a_run_is_waited_for_no_longer_than_the_bounds() {
    let daemon = SecondDaemon::start();
    let running = start(&daemon);
    daemon.freeze();
    let (outcome, hint) = verdict(&running.wait_at_most(BOUND));
    assert_eq!(
        (&outcome["verdict"], &outcome["stdout"]),
        (&json!("sandbox_error"), &json!("on\n"))
    );
    assert!(hint.contains("does not confirm that the program is dead"), "{hint}");
    assert!(says_unconfirmed(&outcome), "{outcome}");
    daemon.thaw();
    daemon.wait_until_empty();
}

#[test]
#[ignore = "needs Docker and root: a daemon of its own that is killed during a run"]
fn a_daemon_that_is_killed_during_a_run_leaves_the_end_unknown() {
    let mut daemon = SecondDaemon::start();
    let finished = {
        let running = start(&daemon);
        daemon.kill();
        running.wait_at_most(BOUND)
    };
    let (outcome, hint) = verdict(&finished);
    assert_eq!(
        (&outcome["verdict"], &outcome["stdout"]),
        (&json!("sandbox_error"), &json!("on\n"))
    );
    assert!(hint.contains("end is unknown"), "{hint}");
    assert!(says_unconfirmed(&outcome), "{outcome}");
    daemon.restart();
    daemon.wait_until_empty();
}

#[test]
#[ignore = "needs Docker and root: a daemon of its own that is stopped during a run"]
fn a_daemon_that_is_stopped_during_a_run_takes_the_program_with_it() {
    let mut daemon = SecondDaemon::start();
    let finished = {
        let running = start(&daemon);
        daemon.terminate();
        running.wait_at_most(BOUND)
    };
    let (outcome, _) = verdict(&finished);
    assert_eq!(outcome["verdict"], "sandbox_error", "{outcome}");
    daemon.restart();
    daemon.wait_until_empty();
}
