//! Containers that are kept ready for calls.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::session::{Session, modern, programs};
use crate::support::{Das, Place as _, StandIn};

/// A session of which no call has come, but one container waits.
fn parked(stand_in: &StandIn) -> Session<'_> {
    let das = Das::new(stand_in).args(["mcp", "--audit-log", "audit.jsonl"]);
    let mut session = Session::start(&das);
    session.initialize("2025-11-25");
    let run = stand_in.wait_for_call("run");
    stand_in.wait_for_container(run.container(), "running");
    session
}

#[test]
fn nothing_is_started_before_the_handshake_is_over() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::start(&Das::new(&stand_in).arg("mcp"));
    session.ask(1, "initialize", &json!({"protocolVersion": "2025-11-25"}));
    session.ask(2, "server/discover", &modern(json!({})));
    session.ask(3, "ping", &json!({}));
    let finished = session.close();
    assert!(stand_in.calls().is_empty());
    assert_eq!(
        finished.stderr_text(),
        "[sandbox] containers are kept ready for the next calls; `--warm 0` stops that\n"
    );
}

#[test]
fn a_call_runs_in_the_container_that_waits() {
    let stand_in = StandIn::playing(programs());
    let mut session = parked(&stand_in);
    let waiting = stand_in.runs()[0].container().to_owned();
    session.call(1, "hello");
    assert_eq!(session.answer(&json!(1))["result"]["content"][0]["text"], "hello\n");
    session.close();
    let log = fs::read_to_string(stand_in.home().join("audit.jsonl")).unwrap();
    let record: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(record["warm"], true);
    assert_eq!(waiting, format!("das-{}", record["run_id"].as_str().unwrap()));
}

#[test]
fn containers_that_wait_are_gone_when_das_is() {
    let stand_in = StandIn::playing(programs());
    assert_eq!(parked(&stand_in).close().code(), Some(0));
    assert!(stand_in.containers_left().is_empty(), "das ended before its container did");
}

#[test]
fn containers_that_wait_are_gone_when_a_signal_ends_das() {
    let stand_in = StandIn::playing(programs());
    let session = parked(&stand_in);
    session.running.send_signal(Signal::TERM);
    assert_eq!(session.running.wait().signal(), Some(Signal::TERM.as_raw()));
    assert!(stand_in.containers_left().is_empty(), "das ended before its container did");
}
