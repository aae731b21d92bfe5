//! A conversation in each version of the protocol, from the first word to the last.

use serde_json::{Value, json};

use super::session::{Session, modern, programs, timeless};
use crate::support::StandIn;

/// What the failing program comes to, with the fields of the version.
fn failure(version: &str, id: u64) -> Value {
    let mut result = json!({
        "content": [{"type": "text", "text": "exit 3 · [TIME]\nstderr:\nboom\n"}],
        "structuredContent": {
            "verdict": "error", "exit_code": 3, "stdout": "", "stderr": "boom\n",
            "duration_seconds": "[TIME]", "timed_out": false, "truncated": false,
        },
        "isError": true,
    });
    if version == "2026-07-28" {
        result["resultType"] = json!("complete");
        result["_meta"]["io.modelcontextprotocol/serverInfo"] = json!({
            "name": "das", "version": env!("CARGO_PKG_VERSION"),
            "title": "das: code in a throwaway container",
        });
    }
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

#[test]
fn each_legacy_version_is_spoken_from_initialize_to_the_end() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let stand_in = StandIn::playing(programs());
        let mut session = Session::new(&stand_in);
        assert_eq!(session.initialize(version)["result"]["protocolVersion"], version);
        let tools = session.ask(1, "tools/list", &json!({}));
        assert_eq!(tools["result"]["tools"][0]["name"], "run_code");
        assert_eq!(
            session.ask(2, "ping", &json!({})),
            json!({"jsonrpc": "2.0", "id": 2, "result": {}})
        );
        assert_eq!(
            session.ask(3, "resources/list", &json!({}))["result"],
            json!({"resources": []})
        );
        session.call(4, "fail");
        let answer = session.answer(&json!(4));
        if version < "2025-06-18" {
            assert_eq!(answer["result"].get("structuredContent"), None);
            assert_eq!(answer["result"]["isError"], true);
        } else {
            assert_eq!(timeless(answer), failure(version, 4));
        }
        let finished = session.close();
        assert_eq!((finished.code(), finished.stderr_text().as_str()), (Some(0), ""));
    }
}

#[test]
fn batches_are_spoken_in_the_one_version_that_has_them() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::speaking(&stand_in, "2025-03-26");
    session.send(&json!([
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "run_code", "arguments": {"code": "hello"}}},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]));
    let batch = session.running.wait_for_line("the batch's answer", |line| {
        serde_json::from_str::<Value>(line).ok().filter(Value::is_array)
    });
    assert_eq!((&batch[0]["id"], &batch[1]["id"]), (&json!(2), &json!(1)));
    assert_eq!(batch[1]["result"]["content"][0]["text"], "hello\n");
    assert_eq!(session.close().code(), Some(0));
}

#[test]
fn the_stateless_version_is_spoken_without_a_handshake() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::new(&stand_in);
    let discovered = session.ask(1, "server/discover", &modern(json!({})));
    assert_eq!(discovered["result"]["supportedVersions"][0], "2026-07-28");
    let tools = session.ask(2, "tools/list", &modern(json!({})));
    assert_eq!(tools["result"]["cacheScope"], "public");
    assert_eq!(session.ask(3, "ping", &modern(json!({})))["error"]["code"], -32601);
    session.request("s", "subscriptions/listen", &modern(json!({"notifications": {}})));
    session.running.wait_for_stdout("notifications/subscriptions/acknowledged");
    let params = modern(json!({"name": "run_code", "arguments": {"code": "fail"}}));
    assert_eq!(timeless(session.ask(4, "tools/call", &params)), failure("2026-07-28", 4));
    let finished = session.close();
    assert_eq!(finished.code(), Some(0));
    let said = super::session::messages(&finished.stdout);
    assert_eq!(said.last().unwrap()["id"], "s", "a subscription is answered at the end");
    assert_eq!(said.last().unwrap()["result"]["resultType"], "complete");
}

#[test]
fn a_client_may_discover_first_and_initialize_then() {
    let stand_in = StandIn::playing(programs());
    let mut session = Session::new(&stand_in);
    assert!(session.ask(1, "server/discover", &modern(json!({})))["result"].is_object());
    assert_eq!(session.initialize("2025-11-25")["result"]["protocolVersion"], "2025-11-25");
    session.call(2, "hello");
    assert_eq!(session.answer(&json!(2))["result"].get("resultType"), None);
    let params = modern(json!({"name": "run_code", "arguments": {"code": "hello"}}));
    assert_eq!(session.ask(3, "tools/call", &params)["result"]["resultType"], "complete");
}
