//! What das needs to start serving, and what it does not.

use std::fs;

use serde_json::json;

use super::session::{Session, modern, programs};
use crate::support::{Das, Place as _, StandIn};

#[test]
fn the_engine_is_not_touched_before_the_first_run() {
    let stand_in = StandIn::new();
    let mut session = Session::speaking(&stand_in, "2025-11-25");
    session.ask(1, "tools/list", &json!({}));
    session.ask(2, "server/discover", &modern(json!({})));
    let bad = json!({"name": "run_code", "arguments": {"code": 5}});
    let refused = session.ask(3, "tools/call", &bad);
    assert_eq!(refused["result"]["structuredContent"]["verdict"], "invalid_input");
    session.close();
    assert!(stand_in.calls().is_empty());
}

#[test]
fn a_missing_engine_is_a_tool_error_that_says_how_to_mend_it() {
    let stand_in = StandIn::new();
    let mut session = Session::with_policy(&stand_in, "{}", &["--engine", "/nowhere/docker"]);
    session.initialize("2025-11-25");
    session.call(1, "hello");
    let answer = session.answer(&json!(1));
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["structuredContent"]["verdict"], "sandbox_error");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("no fault of the code, ask the user"), "{text}");
    assert!(text.contains("/nowhere/docker") && text.contains("install Docker"), "{text}");
}

#[test]
fn a_refused_policy_ends_das_before_it_serves() {
    let stand_in = StandIn::new();
    Das::new(&stand_in).args(["mcp", "--memory", "1"]).stderr(
        "error: the policy is refused\n  caused by: `memory_mb` must be a whole number from 16 to 1048576, not 1\n\nhint: `das policy schema` lists every key with its range\n",
    ).status(2);
}

#[test]
fn a_run_that_cannot_be_recorded_does_not_run() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::with_policy(&stand_in, "{}", &["--audit-log", "none/audit.jsonl"]);
    session.call(1, "hello");
    let answer = session.answer(&json!(1));
    assert_eq!(answer["result"]["structuredContent"]["verdict"], "sandbox_error");
    let hint = answer["result"]["structuredContent"]["hint"].as_str().unwrap();
    assert!(hint.contains("cannot open the audit log `none/audit.jsonl`: No such file"), "{hint}");
    assert!(stand_in.runs().is_empty());
}

#[test]
fn every_call_is_recorded() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::with_policy(&stand_in, "{}", &["--audit-log", "audit.jsonl"]);
    for (id, code) in ["hello", "fail"].iter().enumerate() {
        session.call(id, code);
        session.answer(&json!(id));
    }
    session.close();
    let log = fs::read_to_string(stand_in.home().join("audit.jsonl")).unwrap();
    let verdict =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["verdict"].clone();
    assert_eq!(log.lines().map(verdict).collect::<Vec<_>>(), ["success", "error"]);
}

#[test]
fn what_the_owner_should_know_is_said_on_stderr_at_the_start_and_with_each_run() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::with_policy(&stand_in, "{}", &["--allow-network"]);
    session.call(1, "hello");
    session.answer(&json!(1));
    let finished = session.close();
    let warning = "[sandbox] warning: network access is on: programs can reach the internet and this machine's network\n";
    assert_eq!(finished.stderr_text(), warning.repeat(2));
}

#[test]
fn a_second_das_beside_it_is_harmless() {
    let stand_in = StandIn::playing(programs());
    let mut first = Session::speaking(&stand_in, "2025-11-25");
    first.call(1, "hold");
    stand_in.wait_for_mark("holding");
    let mut second = Session::speaking(&stand_in, "2025-11-25");
    second.call(1, "hello");
    second.answer(&json!(1));
    assert_eq!(second.close().code(), Some(0));
    assert_eq!(stand_in.containers_left().len(), 1, "the first one's container must live on");
    first.close();
    stand_in.wait_until_empty();
}

#[test]
fn variables_that_a_host_leaves_empty_are_the_same_as_none() {
    let stand_in = StandIn::new();
    let das = ["DAS_POLICY", "DAS_AUDIT_LOG", "DOCKER_HOST", "DOCKER_CONTEXT"]
        .into_iter()
        .fold(Das::new(&stand_in).arg("mcp"), |das, name| das.env(name, ""));
    let mut session = Session::start(&das);
    assert_eq!(session.ask(1, "ping", &json!({}))["result"], json!({}));
    assert_eq!(session.close().code(), Some(0));
}
