//! What a probe does not say is unknown, never held: a stand-in engine plays the probes that fail.

use std::fs;

use serde_json::Value;

use crate::support::{Answer, Das, Place as _, Scenario, StandIn};

#[track_caller]
fn verify(stand_in: &StandIn, walls: &[&str], code: i32) -> Vec<(String, String)> {
    let only = walls.iter().flat_map(|wall| ["--only", wall]);
    let finished = Das::new(stand_in).args(["verify", "--json"]).args(only).output();
    assert_eq!(finished.code(), Some(code), "{finished:?}");
    let report: Value = serde_json::from_slice(&finished.stdout).expect("a JSON object");
    assert_eq!(report["holds"], code == 0);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let walls = report["walls"].as_array().expect("a list");
    walls.iter().map(|it| (text(&it["state"]), text(&it["evidence"]))).collect()
}

#[track_caller]
fn network(scenario: Scenario) -> (String, String) {
    verify(&StandIn::playing(scenario), &["network"], 1).remove(0)
}

fn unknown(reason: &str) -> (String, String) {
    ("UNKNOWN".to_owned(), reason.to_owned())
}

#[test]
fn a_probe_that_prints_nothing_proves_nothing() {
    let found = network(Scenario::program().exits(0));
    assert_eq!(found, unknown("the probe did not finish (success)"));
}

#[test]
fn a_probe_that_prints_garbage_proves_nothing() {
    let garbage = "{\"das\":\"x\",\"of\":\"end\"}\nnull\n[[[\n\u{1b}[2J\n";
    let found = network(Scenario::program().prints(garbage).prints(b"\xff\xfe\0").exits(0));
    assert_eq!(found, unknown("the probe did not finish (success)"));
}

#[test]
fn a_probe_that_crashes_says_how() {
    let crash = Scenario::program().prints_to_stderr("SyntaxError: \u{1b}[31mnope\n").exits(1);
    let found = network(crash);
    assert_eq!(found, unknown("the probe did not finish (error): SyntaxError: [31mnope"));
}

#[test]
fn a_probe_that_runs_out_of_memory_proves_nothing_of_the_network() {
    let (state, evidence) = network(Scenario::program().runs_out_of_memory());
    assert_eq!(state, "UNKNOWN");
    assert!(evidence.starts_with("the probe did not finish (out_of_memory)"), "{evidence}");
}

#[test]
fn an_engine_that_starts_nothing_leaves_every_wall_unknown_with_its_words() {
    let answer = Answer::failure(125, "docker: Error response from daemon: no space left.\n");
    let stand_in = StandIn::playing(Scenario::program().refused_with(answer));
    for (state, evidence) in verify(&stand_in, &["network", "user", "cpu"], 1) {
        assert_eq!(state, "UNKNOWN");
        assert!(evidence.contains("no space left"), "{evidence}");
    }
}

#[test]
fn a_memory_hog_that_ends_by_itself_has_proved_nothing() {
    // Its limits are not seen either: the stand-in's program tells no facts.
    let stand_in = StandIn::playing(Scenario::program().exits(0));
    for (state, _) in verify(&stand_in, &["memory", "pids", "lifetime"], 1) {
        assert_eq!(state, "UNKNOWN");
    }
}

#[test]
fn a_wall_that_the_policy_opens_is_told_as_open_and_keeps_its_promise() {
    let stand_in = StandIn::playing(Scenario::program().exits(0));
    let args = ["verify", "--only", "network", "--allow-network", "--json"];
    let finished = Das::new(&stand_in).args(args).output();
    assert_eq!(finished.code(), Some(0), "{finished:?}");
    let report: Value = serde_json::from_slice(&finished.stdout).expect("a JSON object");
    assert_eq!(report["walls"][0]["state"], "OPEN");
}

#[test]
fn one_wall_needs_no_more_than_its_own_runs() {
    let stand_in = StandIn::playing(Scenario::program().exits(0));
    verify(&stand_in, &["network"], 1);
    assert_eq!(stand_in.runs().len(), 1);
}

#[test]
fn a_language_without_probes_and_a_wall_that_is_none_are_usage_errors() {
    let stand_in = StandIn::new();
    let ruby = policy_file(
        &stand_in,
        "ruby.json",
        r#"{"languages": {"ruby": {"image": "ruby:3.3", "command": ["ruby", "-"]}}}"#,
    );
    Das::new(&stand_in)
        .args(["verify", "-l", "ruby", "--policy", &ruby])
        .stderr(
            "error: nothing was verified\n  caused by: there are no probes in `ruby`, only in \
             python, node and shell\n\nhint: `-l shell --image IMAGE` verifies any image that has \
             `sh`\n",
        )
        .status(2);
    let finished = Das::new(&stand_in).args(["verify", "--only", "firewall"]).output();
    assert_eq!(finished.code(), Some(2));
    assert!(finished.stderr_text().contains("there is no wall `firewall`"), "{finished:?}");
    assert!(stand_in.runs().is_empty());
}

#[test]
fn a_missing_engine_is_no_verification() {
    let stand_in = StandIn::new();
    let finished = Das::new(&stand_in).args(["verify", "--engine", "/nowhere/docker"]).output();
    assert_eq!(finished.code(), Some(125), "{finished:?}");
    assert!(finished.stderr_text().contains("/nowhere/docker"), "{finished:?}");
}

fn policy_file(stand_in: &StandIn, name: &str, text: &str) -> String {
    let path = stand_in.home().join(name);
    fs::write(&path, text).expect("a writable directory");
    path.into_os_string().into_string().expect("a plain path")
}
