//! `das run --json`: one object, whatever happened.

use serde_json::Value;

use super::run;
use crate::support::{Daemon, Scenario, StandIn};

/// The SHA-256 of `pass`.
const PASS: &str = "d74ff0ee8da3b9806b18c877dbf29bbde50b5bd8e4dad7a3a725000feb82e8f1";

/// The object as it is printed, with what differs from run to run replaced.
#[track_caller]
fn json(stand_in: &StandIn, args: &[&str], code: i32) -> String {
    let finished = run(stand_in).arg("--json").args(args.iter().copied()).output();
    assert_eq!((finished.code(), finished.stderr_text().as_str()), (Some(code), ""));
    let mut text = finished.stdout_text();
    assert_eq!(text.find('\n'), Some(text.len() - 1), "one line");
    let outcome: Value = serde_json::from_str(&text).expect("an object");
    let seconds = outcome["duration_seconds"].to_string();
    assert!(seconds.parse::<f64>().is_ok_and(|seconds| seconds >= 0.0));
    let (whole, fraction) = seconds.split_once('.').expect("a fraction");
    assert!(fraction.len() <= 3, "{whole}.{fraction}");
    text = text.replacen(&format!("\"duration_seconds\":{seconds},"), "\"duration_seconds\":T,", 1);
    let id = outcome["run_id"].as_str().expect("a run's id").to_owned();
    assert!(stand_in.runs().iter().all(|run| run.container() == format!("das-{id}")));
    text.replacen(&id, "[ID]", 1)
}

#[test]
fn a_success_has_every_key_in_its_documented_order() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n").prints_to_stderr("hm\n"));
    let expected = format!(
        "{{\"verdict\":\"success\",\"exit_code\":0,\"hint\":null,\"stdout\":\"45\\n\",\
         \"stderr\":\"hm\\n\",\"duration_seconds\":T,\"timed_out\":false,\"truncated\":false,\
         \"stdout_bytes\":3,\"stderr_bytes\":3,\"language\":\"python\",\
         \"image\":\"python:3.12-slim\",\"code_sha256\":\"{PASS}\",\"run_id\":\"[ID]\",\
         \"warnings\":[]}}\n"
    );
    assert_eq!(json(&stand_in, &[], 0), expected);
}

#[test]
fn an_exit_code_is_null_only_where_there_is_none() {
    let cases: [(Scenario, &str, i32, &str); 6] = [
        (Scenario::program().exits(3), "error", 3, "3"),
        (Scenario::program().runs_until_killed(), "timeout", 124, "null"),
        (Scenario::program().runs_out_of_memory(), "out_of_memory", 137, "137"),
        (Scenario::program().interpreter_is_missing(), "cannot_start", 127, "127"),
        (Scenario::program().interpreter_is_not_executable(), "cannot_start", 126, "126"),
        (Scenario::program().daemon(Daemon::Down), "sandbox_error", 125, "null"),
    ];
    for (scenario, verdict, code, exit_code) in cases {
        let stand_in = StandIn::playing(scenario);
        let text = json(&stand_in, &["--timeout", "0.3"], code);
        let start = format!("{{\"verdict\":\"{verdict}\",\"exit_code\":{exit_code},");
        assert!(text.starts_with(&start), "{text}");
        let outcome: Value = serde_json::from_str(&text.replacen(":T,", ":0,", 1)).unwrap();
        assert_eq!(outcome["timed_out"], verdict == "timeout");
        assert_eq!(outcome["hint"].is_string(), verdict != "error");
    }
}

#[test]
fn a_warning_stands_in_the_object_and_on_stderr() {
    let stand_in = StandIn::playing(Scenario::program());
    let finished = run(&stand_in).args(["--json", "--allow-network"]).output();
    let warning =
        "network access is on: programs can reach the internet and this machine's network";
    assert_eq!(finished.stderr_text(), format!("[sandbox] warning: {warning}\n"));
    let outcome: Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!(outcome["warnings"], serde_json::json!([warning]));
}
