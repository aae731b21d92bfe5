//! `docker kill` and `docker rm`, at their best and at their worst.

use rustix::process::Signal;

use super::{NAME, actions, docker, kill, run};
use crate::support::{Amount, Answer, Pipe, Running, Scenario, StandIn, Stop, Stream, Trigger};

const BOTH: &[Stream] = &[Stream::Stdout, Stream::Stderr];

/// Starts a program that runs until it is killed.
fn runs_on(stand_in: &StandIn) -> Running<'_> {
    let running = run(stand_in).spawn();
    stand_in.wait_for_container(NAME, "running");
    running
}

/// Floods, but not before something waits in the pipe to be read.
fn unread(streams: &[Stream]) -> Scenario {
    let program = Scenario::program_that_never_reads().prints("y\n").marks("written");
    program.floods(streams, Amount::Forever)
}

fn endless() -> Scenario {
    Scenario::program_that_never_reads().runs_until_killed()
}

#[test]
fn a_kill_ends_the_program_and_its_client_with_137() {
    let stand_in = StandIn::playing(endless());
    let running = runs_on(&stand_in);
    kill(&stand_in);
    assert_eq!(running.wait().code(), Some(137));
    assert_eq!(actions(&stand_in), ["create", "attach", "start", "kill", "die", "destroy"]);
}

#[test]
fn a_forced_removal_kills_too() {
    let stand_in = StandIn::playing(endless());
    let running = runs_on(&stand_in);
    docker(&stand_in, &["rm", "-f", NAME]).stdout(format!("{NAME}\n")).status(0);
    assert_eq!(running.wait().code(), Some(137));
    assert_eq!(actions(&stand_in), ["create", "attach", "start", "kill", "die", "destroy"]);
}

#[test]
fn a_removal_without_force_spares_a_running_container() {
    let stand_in = StandIn::playing(endless());
    let running = runs_on(&stand_in);
    let refused = docker(&stand_in, &["rm", NAME]).output();
    assert!(
        refused
            .stderr_text()
            .starts_with("Error response from daemon: You cannot remove a running container ")
    );
    assert!(
        refused
            .stderr_text()
            .ends_with(". Stop the container before attempting removal or force remove\n")
    );
    assert_eq!(refused.code(), Some(1));
    kill(&stand_in);
    assert_eq!(running.wait().code(), Some(137));
}

#[test]
fn a_container_that_is_not_there_is_an_error_for_kill_and_none_for_a_forced_removal() {
    let stand_in = StandIn::new();
    let text = "Error response from daemon: Cannot kill container: x: No such container: x\n";
    docker(&stand_in, &["kill", "x"]).stderr(text).status(1);
    let text = "Error response from daemon: No such container: x\n";
    docker(&stand_in, &["rm", "-f", "x"]).stderr(text).status(0);
    docker(&stand_in, &["rm", "x"]).stderr(text).status(1);
}

#[test]
fn without_rm_a_container_stays_until_it_is_removed() {
    let stand_in = StandIn::playing(Scenario::program().exits(4));
    docker(&stand_in, &["run", "--name", NAME, "--pull", "never", "i:1", "true"]).status(4);
    stand_in.wait_for_container(NAME, "exited");
    let refused = docker(&stand_in, &["kill", NAME]).output();
    assert!(refused.stderr_text().ends_with(" is not running\n"));
    docker(&stand_in, &["rm", NAME]).stdout(format!("{NAME}\n")).status(0);
    assert!(stand_in.containers_left().is_empty());
}

#[test]
fn an_ignored_kill_says_that_it_worked() {
    let stand_in = StandIn::playing(endless().kill(Stop::Ignored).rm(Stop::Ignored));
    let running = runs_on(&stand_in);
    kill(&stand_in);
    docker(&stand_in, &["rm", "-f", NAME]).stdout(format!("{NAME}\n")).status(0);
    assert_eq!(stand_in.container_phase(NAME).as_deref(), Some("running"));
    running.send_signal(Signal::KILL);
    assert_eq!(running.wait().signal(), Some(Signal::KILL.as_raw()));
    assert_eq!(stand_in.containers_left(), [NAME]);
}

#[test]
fn a_kill_that_hangs_hangs_and_the_next_one_may_work() {
    let stand_in = StandIn::playing(endless().kill(Stop::Hangs).kill(Stop::Works));
    let running = runs_on(&stand_in);
    let hanging = docker(&stand_in, &["kill", NAME]).spawn();
    stand_in.wait_for_call("kill");
    kill(&stand_in);
    assert_eq!(running.wait().code(), Some(137));
    assert_eq!(stand_in.calls_of("kill")[0].ended, None);
    hanging.send_signal(Signal::TERM);
    assert_eq!(hanging.wait().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn a_kill_can_come_late() {
    let stand_in = StandIn::playing(endless().kill(Stop::After(Trigger::file("now"))));
    let running = runs_on(&stand_in);
    let late = docker(&stand_in, &["kill", NAME]).spawn();
    stand_in.wait_for_call("kill");
    assert_eq!(stand_in.container_phase(NAME).as_deref(), Some("running"));
    stand_in.trigger("now");
    assert_eq!(late.wait().code(), Some(0));
    assert_eq!(running.wait().code(), Some(137));
}

#[test]
fn a_kill_can_answer_anything() {
    let text = "Error response from daemon: context deadline exceeded\n";
    let stand_in = StandIn::playing(endless().kill(Stop::Answers(Answer::failure(1, text))));
    let _running = runs_on(&stand_in);
    docker(&stand_in, &["kill", NAME]).stderr(text).status(1);
    assert_eq!(stand_in.containers_left(), [NAME]);
}

#[test]
fn a_blocked_kill_waits_for_the_reader() {
    for streams in [&BOTH[..1], &BOTH[1..], BOTH] {
        let stand_in = StandIn::playing(unread(streams).kill(Stop::BlocksUntilDrained));
        let running = run(&stand_in).pipes(Pipe::Unread, Pipe::Unread).spawn();
        stand_in.wait_for_mark("written");
        let blocked = docker(&stand_in, &["kill", NAME]).spawn();
        stand_in.eventually("a kill that waits", || {
            stand_in.dir().join("draining").exists().then_some(())
        });
        assert_eq!(stand_in.container_phase(NAME).as_deref(), Some("running"));
        // Waiting for the end reads all.
        assert_eq!(running.wait().code(), Some(137));
        assert_eq!(blocked.wait().stdout_text(), format!("{NAME}\n"));
    }
}

#[test]
fn a_blocked_removal_ends_with_the_client() {
    let stand_in = StandIn::playing(unread(BOTH).rm(Stop::BlocksUntilDrained));
    let running = run(&stand_in).pipes(Pipe::Unread, Pipe::Unread).spawn();
    stand_in.wait_for_mark("written");
    let blocked = docker(&stand_in, &["rm", "-f", NAME]).spawn();
    stand_in.wait_for_call("rm");
    running.send_signal(Signal::KILL);
    assert_eq!(blocked.wait().stdout_text(), format!("{NAME}\n"));
    assert!(stand_in.containers_left().is_empty());
    assert_eq!(running.wait().signal(), Some(Signal::KILL.as_raw()));
}
