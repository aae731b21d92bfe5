//! Calls that run, wait, are cancelled and go wrong.

use serde_json::json;

use super::client::Client;
use crate::mcp::server::calls::MOST_OPEN;
use crate::policy::SandboxPolicy;

/// A client of a server that runs so many calls at once.
fn with_places(places: u64) -> Client {
    Client::with_policy(SandboxPolicy { max_concurrent: places, ..SandboxPolicy::default() })
}

#[test]
fn a_call_is_answered_with_what_the_program_printed() {
    let mut client = Client::new();
    client.call(1, "print hello");
    let answer = client.receive();
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["content"], json!([{"type": "text", "text": "hello"}]));
    assert_eq!(answer["result"]["structuredContent"]["verdict"], "success");
}

#[test]
fn a_ping_is_answered_while_calls_run_and_wait() {
    let mut client = with_places(1);
    client.call(1, "hold a");
    client.call(2, "hold b");
    assert_eq!(client.stage.started(), "a");
    client.request(3, "ping", &json!({}));
    assert_eq!(client.receive()["id"], 3);
}

#[test]
fn so_many_calls_run_at_once_and_the_others_wait_in_order() {
    let mut client = with_places(2);
    for (id, name) in ["a", "b", "c", "d"].iter().enumerate() {
        client.call(id, &format!("hold {name}"));
    }
    let mut first = [client.stage.started(), client.stage.started()];
    first.sort();
    assert_eq!(first, ["a", "b"]);
    client.nothing_more();
    client.stage.none_started();
    client.stage.release("b");
    assert_eq!(client.receive()["id"], 1);
    assert_eq!(client.stage.started(), "c");
    client.stage.none_started();
    client.stage.release("a");
    assert_eq!(client.receive()["id"], 0);
    assert_eq!(client.stage.started(), "d");
}

#[test]
fn a_cancelled_call_is_stopped_and_never_answered() {
    let mut client = Client::new();
    client.call(1, "hold a");
    client.stage.started();
    client.cancel(1);
    assert_eq!(client.stage.stopped(), "a");
    client.nothing_more();
    client.close();
    assert_eq!(client.end().1, Vec::<serde_json::Value>::new());
}

#[test]
fn an_id_is_free_again_after_its_cancellation_and_the_late_outcome_is_nobodys() {
    let mut client = with_places(2);
    client.call("x", "deaf a");
    client.stage.started();
    client.cancel("x");
    client.call("x", "hold b");
    assert_eq!(client.stage.started(), "b");
    client.stage.release("a");
    client.call("y", "print y");
    assert_eq!(client.receive()["id"], "y");
    client.stage.release("b");
    let answer = client.receive();
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!("x"), &json!("b"))
    );
    client.nothing_more();
}

#[test]
fn a_waiting_call_that_is_cancelled_never_starts() {
    let mut client = with_places(1);
    client.call(1, "hold a");
    client.call(2, "hold b");
    client.call(3, "hold c");
    assert_eq!(client.stage.started(), "a");
    client.cancel(2);
    client.nothing_more();
    client.stage.release("a");
    assert_eq!(client.receive()["id"], 1);
    assert_eq!(client.stage.started(), "c");
}

#[test]
fn cancelling_what_is_unknown_or_answered_or_no_id_is_silent() {
    let mut client = Client::new();
    client.call(1, "print a");
    assert_eq!(client.receive()["id"], 1);
    for id in [json!(1), json!(99), json!("1"), json!(null), json!(1.5), json!({})] {
        client.cancel(id);
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}));
    client.nothing_more();
}

#[test]
fn a_cancellation_of_text_does_not_hit_the_number() {
    let mut client = Client::new();
    client.call(1, "hold a");
    client.stage.started();
    client.cancel("1");
    client.nothing_more();
    client.stage.release("a");
    assert_eq!(client.receive()["id"], 1);
}

#[test]
fn an_id_in_use_is_refused_and_its_second_call_does_not_run() {
    let mut client = Client::new();
    client.call(1, "hold a");
    assert_eq!(client.stage.started(), "a");
    for second in ["tools/call", "ping", "tools/list"] {
        client.request(1, second, &json!({"name": "run_code", "arguments": {"code": "hold b"}}));
        let refusal = client.receive();
        assert_eq!(refusal["id"], 1);
        assert_eq!(refusal["error"], json!({"code": -32600, "message": "id already in use"}));
    }
    client.stage.none_started();
    client.stage.release("a");
    assert_eq!(client.receive()["result"]["content"][0]["text"], "a");
}

#[test]
fn a_panic_is_answered_and_serving_goes_on() {
    let mut client = with_places(1);
    for id in 1..=3 {
        client.call(id, "panic");
        let answer = client.receive();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error"], json!({"code": -32603, "message": "internal error"}));
    }
    client.call(4, "print still here");
    assert_eq!(client.receive()["result"]["content"][0]["text"], "still here");
}

#[test]
fn more_open_calls_than_anybody_needs_are_refused() {
    let mut client = with_places(1);
    for id in 0..=MOST_OPEN {
        client.call(id, "hold a");
    }
    let refusal = client.receive();
    assert_eq!(refusal["id"], MOST_OPEN);
    assert_eq!(refusal["error"]["code"], -32603);
    client.cancel(MOST_OPEN - 1);
    client.call("new", "hold a");
    client.nothing_more();
}

#[test]
fn more_waiting_code_than_memory_is_for_is_refused() {
    let policy =
        SandboxPolicy { max_concurrent: 1, max_code_bytes: 16 << 20, ..SandboxPolicy::default() };
    let mut client = Client::with_policy(policy);
    client.call("running", "hold a");
    client.stage.started();
    let long = format!("hold {}", "b".repeat(15 << 20));
    for id in 0..5 {
        client.call(id, &long);
    }
    let refusal = client.receive();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(4), &json!(-32603)));
    client.cancel(0);
    client.call("fits", &long);
    client.nothing_more();
}
