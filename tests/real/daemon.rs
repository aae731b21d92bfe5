//! A daemon that is away, does not answer or dies: das answers in time, says what it knows, and
//! leaves nothing once the daemon is back.

use std::time::Duration;

use crate::support::{Finished, Running, SecondDaemon};

/// All of das's own bounds together, and the time for a busy machine to get there.
const BOUND: Duration = Duration::from_mins(1);

/// The time limit is long enough for a busy machine to start the program.
const RUN: [&str; 6] = ["run", "-l", "shell", "--timeout", "8", "-c"];

/// A program that has begun.
#[track_caller]
fn start(daemon: &SecondDaemon) -> Running<'_> {
    let running = daemon.das().args(RUN).arg("echo on; sleep 600").spawn();
    running.wait_for_stdout("on\n");
    running
}

/// What das says on stderr of a run whose end it does not know.
#[track_caller]
fn talk(finished: &Finished, stdout: &str) -> String {
    let talk = finished.stderr_text();
    assert_eq!((finished.stdout_text().as_str(), finished.code()), (stdout, Some(125)), "{talk}");
    assert!(talk.contains("[sandbox] sandbox_error in "), "{talk}");
    talk
}

const UNCONFIRMED: &str = "does not confirm that the container is gone";

#[test]
#[ignore = "needs Docker and root: a daemon of its own that is stopped"]
fn without_a_daemon_nothing_runs_and_the_hint_says_what_to_do() {
    let mut daemon = SecondDaemon::start();
    daemon.stop();
    let talk = talk(&daemon.das().args(RUN).arg("echo on").output(), "");
    assert!(talk.contains("cannot be reached") && talk.contains("start Docker"), "{talk}");
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
    let running = daemon.das().args(RUN).arg("sleep 600").spawn();
    let talk = talk(&running.wait_at_most(BOUND), "");
    assert!(talk.contains(UNCONFIRMED), "{talk}");
    daemon.thaw();
    daemon.wait_until_empty();
}

#[test]
#[ignore = "needs Docker and root: a daemon of its own that is frozen during a run"]
fn a_daemon_that_freezes_during_a_run_is_waited_for_no_longer_than_the_bounds() {
    let daemon = SecondDaemon::start();
    let running = start(&daemon);
    daemon.freeze();
    let talk = talk(&running.wait_at_most(BOUND), "on\n");
    assert!(talk.contains("does not confirm that the program is dead"), "{talk}");
    assert!(talk.contains(UNCONFIRMED), "{talk}");
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
    let talk = talk(&finished, "on\n");
    assert!(talk.contains("end is unknown"), "{talk}");
    assert!(talk.contains(UNCONFIRMED), "{talk}");
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
    talk(&finished, "on\n");
    daemon.restart();
    daemon.wait_until_empty();
}

#[test]
#[ignore = "needs Docker and root: a daemon of its own that is killed at ten moments"]
fn a_daemon_that_is_killed_at_any_moment_leaves_nothing_and_no_false_verdict() {
    let mut daemon = SecondDaemon::start();
    for turn in 0..10 {
        let finished = {
            let das = daemon.das().args(["run", "-l", "shell", "--timeout", "0.4", "-c"]);
            let running = das.arg("sleep 600").spawn();
            // Later each time: before the creation, at the start, while it runs, at the kill, at
            // the removal.
            for _ in 0..turn * 3 {
                daemon.containers();
            }
            daemon.kill();
            running.wait_at_most(BOUND)
        };
        assert!(matches!(finished.code(), Some(124 | 125)), "{turn}: {finished:?}");
        daemon.restart();
        daemon.wait_until_empty();
    }
}
