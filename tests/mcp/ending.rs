//! However it ends, no container is left and das is gone.

use rustix::process::Signal;
use serde_json::json;

use super::session::{Session, programs};
use crate::support::{Das, Finished, Pipe, StandIn};

/// A session with a program that runs until it is killed.
fn holding(stand_in: &StandIn) -> Session<'_> {
    let mut session = Session::speaking(stand_in, "2025-11-25");
    session.call(1, "hold");
    stand_in.wait_for_mark("holding");
    session
}

/// das waits for its containers' end, but on an overloaded machine it must be gone first: then
/// it says so, and the watchdog removes them.
#[track_caller]
pub(super) fn nothing_is_left(stand_in: &StandIn, finished: &Finished) {
    let said = finished.stderr_text().contains("had not ended when das did");
    assert!(said || stand_in.containers_left().is_empty(), "das left a container silently");
    stand_in.wait_until_empty();
}

#[test]
fn when_the_client_closes_its_side_in_mid_run() {
    let stand_in = StandIn::playing(programs());
    let finished = holding(&stand_in).close();
    assert_eq!(finished.code(), Some(0));
    nothing_is_left(&stand_in, &finished);
}

#[test]
fn when_a_signal_comes_in_mid_run() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let stand_in = StandIn::playing(programs());
        let session = holding(&stand_in);
        session.running.send_signal(signal);
        let finished = session.running.wait();
        assert_eq!(finished.signal(), Some(signal.as_raw()));
        nothing_is_left(&stand_in, &finished);
    }
}

#[test]
fn when_a_signal_goes_to_the_whole_process_group_in_mid_run() {
    let stand_in = StandIn::playing(programs());
    let session = holding(&stand_in);
    session.running.send_signal_to_group(Signal::TERM);
    let finished = session.running.wait();
    assert_eq!(finished.signal(), Some(Signal::TERM.as_raw()));
    nothing_is_left(&stand_in, &finished);
}

#[test]
fn when_nothing_runs_and_a_signal_comes() {
    let stand_in = StandIn::new();
    let session = Session::speaking(&stand_in, "2025-11-25");
    session.running.send_signal(Signal::TERM);
    assert_eq!(session.running.wait().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn when_the_client_reads_no_more() {
    let stand_in = StandIn::playing(programs());
    let das = Das::new(&stand_in).pipes(Pipe::Closed, Pipe::Read).arg("mcp");
    let mut session = Session::start(&das);
    session.call(1, "hold");
    stand_in.wait_for_mark("holding");
    session.request(2, "ping", &json!({}));
    nothing_is_left(&stand_in, &session.running.wait());
}

#[test]
fn when_sixteen_run_at_once() {
    let stand_in = StandIn::playing(programs());
    let policy = r#"{"max_concurrent": 16}"#;
    let mut session = Session::with_policy(&stand_in, policy, &[]);
    for id in 0..16 {
        session.call(id, "hold");
    }
    for run in stand_in.wait_for_calls("run", 16) {
        stand_in.wait_for_container(run.container(), "running");
    }
    let finished = session.close();
    assert_eq!(finished.code(), Some(0));
    nothing_is_left(&stand_in, &finished);
}
