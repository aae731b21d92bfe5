//! However it ends, no container is left and das is gone.

use rustix::process::Signal;
use serde_json::json;

use super::session::{Session, programs};
use crate::support::{Das, Pipe, StandIn};

/// A session with a program that runs until it is killed.
fn holding(stand_in: &StandIn) -> Session<'_> {
    let mut session = Session::speaking(stand_in, "2025-11-25");
    session.call(1, "hold");
    stand_in.wait_for_mark("holding");
    session
}

#[test]
fn when_the_client_closes_its_side_in_mid_run() {
    let stand_in = StandIn::playing(programs());
    let finished = holding(&stand_in).close();
    assert_eq!(finished.code(), Some(0));
    assert!(stand_in.containers_left().is_empty(), "das ended before its container did");
}

#[test]
fn when_a_signal_comes_in_mid_run() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let stand_in = StandIn::playing(programs());
        let session = holding(&stand_in);
        session.running.send_signal(signal);
        let finished = session.running.wait();
        assert_eq!(finished.signal(), Some(signal.as_raw()));
        assert!(stand_in.containers_left().is_empty(), "das ended before its container did");
    }
}

#[test]
fn when_a_signal_goes_to_the_whole_process_group_in_mid_run() {
    let stand_in = StandIn::playing(programs());
    let session = holding(&stand_in);
    session.running.send_signal_to_group(Signal::TERM);
    assert_eq!(session.running.wait().signal(), Some(Signal::TERM.as_raw()));
    assert!(stand_in.containers_left().is_empty());
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
    session.running.wait_for_exit();
    assert!(stand_in.containers_left().is_empty(), "das ended before its container did");
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
    assert_eq!(session.close().code(), Some(0));
    assert!(stand_in.containers_left().is_empty(), "das ended before its containers did");
}
