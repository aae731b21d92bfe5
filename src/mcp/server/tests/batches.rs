//! Several messages on one line, where the version has that.

use serde_json::{Value, json};

use super::client::{Client, call, cancellation, request};

fn ids(batch: &Value) -> Vec<Value> {
    batch.as_array().expect("an array").iter().map(|answer| answer["id"].clone()).collect()
}

#[test]
fn a_batch_is_answered_with_one_array_when_its_last_call_is_done() {
    let mut client = Client::speaking("2025-03-26");
    client.send(&json!([
        call(1, "hold a"),
        request(2, "ping", &json!({})),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        7,
        request("three", "no/such", &json!({})),
    ]));
    client.stage.started();
    client.nothing_more();
    client.stage.release("a");
    let batch = client.receive();
    assert_eq!(ids(&batch), [json!(2), json!(null), json!("three"), json!(1)]);
    assert_eq!(batch[1]["error"]["code"], -32600);
    assert_eq!(batch[2]["error"]["code"], -32601);
    assert_eq!(batch[3]["result"]["content"][0]["text"], "a");
}

#[test]
fn a_batch_of_notifications_alone_is_not_answered() {
    let mut client = Client::speaking("2025-03-26");
    client.send(&json!([cancellation(9), {"jsonrpc": "2.0", "id": 1, "result": {}}]));
    client.nothing_more();
}

#[test]
fn a_cancelled_call_is_left_out_of_its_batch() {
    let mut client = Client::speaking("2025-03-26");
    client.send(&json!([call(1, "hold a"), request(2, "ping", &json!({}))]));
    client.stage.started();
    client.cancel(1);
    assert_eq!(ids(&client.receive()), [2]);
    client.send(&json!([call(3, "hold b"), cancellation(3)]));
    client.nothing_more();
}

#[test]
fn an_id_twice_in_a_batch_is_refused_once() {
    let mut client = Client::speaking("2025-03-26");
    client.send(&json!([call(1, "hold a"), call(1, "hold b")]));
    client.stage.started();
    client.stage.release("a");
    let batch = client.receive();
    assert_eq!(ids(&batch), [1, 1]);
    assert_eq!(batch[0]["error"]["code"], -32600);
    assert_eq!(batch[1]["result"]["content"][0]["text"], "a");
}

#[test]
fn an_empty_batch_is_no_request() {
    let mut client = Client::speaking("2025-03-26");
    client.send(&json!([]));
    let refusal = client.receive();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(null), &json!(-32600)));
}

#[test]
fn other_versions_refuse_an_array_as_a_whole_and_run_nothing() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut client = Client::speaking(version);
        client.send(&json!([call(1, "hold a"), request(2, "ping", &json!({}))]));
        let refusal = client.receive();
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(null), &json!(-32600)));
        client.nothing_more();
        client.stage.none_started();
    }
}

#[test]
fn a_huge_answer_to_a_batch_comes_in_parts_that_clients_can_read() {
    let mut client = Client::speaking("2025-03-26");
    let long = format!("print {}", "x".repeat(60_000));
    client.send(&json!((0..100).map(|id| call(id, &long)).collect::<Vec<_>>()));
    let mut seen = 0;
    while seen < 100 {
        let part = client.receive();
        assert!(part.to_string().len() < 5 << 20);
        seen += ids(&part).len();
    }
    assert_eq!(seen, 100);
}
