//! Progress, for those who asked for it.

use serde_json::{Value, json};

use super::client::Client;
use crate::policy::SandboxPolicy;

fn progress(client: &Client) -> Value {
    let message = client.receive();
    assert_eq!(message["method"], "notifications/progress", "{message}");
    message["params"].clone()
}

#[test]
fn progress_comes_with_the_token_as_it_was_and_always_more() {
    for token in [json!("t"), json!(7), json!("7"), json!(0)] {
        let mut client = Client::new();
        client.call_with_progress(1, &token, "hold a");
        let mut last = 0;
        for _ in 0..5 {
            let progress = progress(&client);
            assert_eq!(progress["progressToken"], token);
            assert!(progress["message"].is_string());
            let now = progress["progress"].as_u64().unwrap();
            assert!(now > last, "{now} after {last}");
            last = now;
        }
    }
}

#[test]
fn progress_of_a_run_says_how_long_it_may_take() {
    let mut client = Client::new();
    client.call_with_progress(1, &json!(1), "hold a");
    client.stage.started();
    let progress = progress(&client);
    assert_eq!(progress["total"], 10);
    assert_eq!(progress["message"], "running, 0 s of 10 s");
}

#[test]
fn progress_of_a_waiting_call_says_that_it_waits() {
    let policy = SandboxPolicy { max_concurrent: 1, ..SandboxPolicy::default() };
    let mut client = Client::with_policy(policy);
    client.call(1, "hold a");
    client.call(2, "hold b");
    client.call_with_progress(3, &json!(1), "hold c");
    let progress = progress(&client);
    assert_eq!(progress["message"], "waiting for its turn, 1 before it");
    assert_eq!(progress.get("total"), None);
}

#[test]
fn there_is_no_progress_without_a_token_that_a_client_may_have() {
    for token in [json!(null), json!(1.5), json!(true), json!({}), json!([])] {
        let mut client = Client::new();
        client.call_with_progress(1, &token, "hold a");
        client.call(2, "hold b");
        client.call_with_progress(3, &json!("other"), "hold c");
        for _ in 0..3 {
            assert_eq!(progress(&client)["progressToken"], "other");
        }
    }
}

#[test]
fn no_progress_follows_the_answer_or_a_cancellation() {
    let mut client = Client::new();
    client.call_with_progress(1, &json!("answered"), "hold a");
    client.call_with_progress(2, &json!("cancelled"), "hold b");
    client.call_with_progress(3, &json!("running"), "hold c");
    client.stage.release("a");
    assert_eq!(client.receive_answer()["id"], 1);
    client.cancel(2);
    client.request(4, "ping", &json!({}));
    let mut told_before_the_ping = 0;
    loop {
        let message = client.receive();
        if message["id"] == 4 {
            break;
        }
        assert_ne!(message["params"]["progressToken"], "answered");
        told_before_the_ping += 1;
        assert!(told_before_the_ping < 10_000, "the ping is never answered");
    }
    for _ in 0..5 {
        assert_eq!(progress(&client)["progressToken"], "running");
    }
}

#[test]
fn the_oldest_clients_get_progress_without_a_message() {
    let mut client = Client::speaking("2024-11-05");
    client.call_with_progress(1, &json!(1), "hold a");
    let progress = progress(&client);
    assert_eq!(progress.get("message"), None);
    assert_eq!(progress["progressToken"], 1);
}

#[test]
fn near_its_deadline_a_run_reports_no_progress() {
    let mut client = Client::new();
    let arguments = json!({"code": "hold a", "timeout_seconds": 0.2});
    let meta = json!({"progressToken": "near its end"});
    let params = json!({"name": "run_code", "arguments": arguments, "_meta": meta});
    client.request(1, "tools/call", &params);
    client.stage.started();
    client.call_with_progress(2, &json!("far from it"), "hold b");
    for _ in 0..5 {
        assert_eq!(progress(&client)["progressToken"], "far from it");
    }
}
