//! Calls, as they come out of the real program.

use serde_json::{Value, json};

use super::session::{Session, programs};
use crate::support::{Amount, Das, Scenario, StandIn, Stream};

fn structured(session: &mut Session<'_>, arguments: &Value) -> Value {
    let params = json!({"name": "run_code", "arguments": arguments});
    let id = session.messages().len();
    session.ask(id, "tools/call", &params)["result"]["structuredContent"].clone()
}

#[test]
fn the_verdict_is_that_of_the_run() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::speaking(&stand_in, "2025-11-25");
    for (arguments, verdict, exit_code) in [
        (json!({"code": "hello"}), "success", 0),
        (json!({"code": "fail"}), "error", 3),
        (json!({"code": "memory"}), "out_of_memory", 137),
        (json!({"code": "hold", "timeout_seconds": "0.2"}), "timeout", -1),
    ] {
        let facts = structured(&mut session, &arguments);
        assert_eq!((&facts["verdict"], &facts["exit_code"]), (&json!(verdict), &json!(exit_code)));
        assert_eq!(facts["timed_out"], verdict == "timeout");
    }
    session.close();
    stand_in.wait_until_empty();
}

#[test]
fn arguments_choose_the_image_and_nothing_else_of_the_command_line() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::speaking(&stand_in, "2025-11-25");
    let greedy = json!({"code": "hello", "language": "js", "timeout_seconds": 3600, "memory_mb": 4096,
        "network": true, "image": "evil", "args": ["--privileged"], "env": {"A": "b"}});
    assert_eq!(structured(&mut session, &greedy)["verdict"], "success");
    let explained = Das::new(&stand_in).args(["explain", "-l", "node", "--json"]).output();
    let explained: Vec<String> = serde_json::from_slice(&explained.stdout).unwrap();
    let run = stand_in.runs().remove(0);
    let same = |words: &[String]| {
        let own = ["das-", "docker-agent-sandbox."];
        let words = words.iter().filter(|word| !own.iter().any(|start| word.starts_with(start)));
        words.cloned().collect::<Vec<_>>()
    };
    assert_eq!(same(&run.argv), same(&explained[1..]));
}

#[test]
fn a_cancelled_call_is_killed_and_never_answered() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::speaking(&stand_in, "2025-11-25");
    session.call(1, "hold");
    stand_in.wait_for_mark("holding");
    session.cancel(1);
    stand_in.wait_until_empty();
    session.ask(2, "ping", &json!({}));
    let said = super::session::messages(&session.close().stdout);
    assert!(said.iter().all(|message| message["id"] != 1), "{said:?}");
}

#[test]
fn a_flood_on_both_streams_comes_as_one_bounded_line() {
    let flood = Scenario::program()
        .floods(&[Stream::Stdout, Stream::Stderr], Amount::Only(3 << 20))
        .exits(0);
    let stand_in = StandIn::playing(flood);
    let mut session = Session::with_policy(&stand_in, r#"{"max_output_bytes": 16777216}"#, &[]);
    let facts = structured(&mut session, &json!({"code": "flood"}));
    assert_eq!((&facts["verdict"], &facts["truncated"]), (&json!("success"), &json!(true)));
    for stream in ["stdout", "stderr"] {
        let text = facts[stream].as_str().unwrap();
        assert!(text.contains(" bytes (") && text.len() > 400_000, "{} bytes", text.len());
    }
    assert!(session.close().stdout.len() < 10 << 20);
}
