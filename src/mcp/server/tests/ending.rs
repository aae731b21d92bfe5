//! Every end cancels what runs and comes within its bound.

use serde_json::json;

use super::client::Client;
use crate::mcp::server::End;

fn modern_listen() -> serde_json::Value {
    json!({"notifications": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }})
}

#[test]
fn when_the_client_closes_its_side_calls_are_cancelled_and_never_answered() {
    let mut client = Client::new();
    for (id, name) in ["a", "b"].iter().enumerate() {
        client.call(id, &format!("hold {name}"));
        client.stage.started();
    }
    client.close();
    let stage = client.stage.clone();
    let (ended, rest) = client.end();
    assert!(matches!(ended.end, End::InputEnded));
    assert_eq!((ended.unfinished, rest.len()), (0, 0));
    let mut stopped = [stage.stopped(), stage.stopped()];
    stopped.sort();
    assert_eq!(stopped, ["a", "b"]);
}

#[test]
fn answers_that_need_no_run_are_still_sent_when_the_input_has_ended() {
    let mut client = Client::new();
    client.request(1, "tools/list", &json!({}));
    client.send_bytes(br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    client.close();
    let (_, rest) = client.end();
    assert_eq!(rest.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_stop_from_within_ends_the_server_although_the_input_is_open() {
    let mut client = Client::new();
    client.call(1, "hold a");
    client.stage.started();
    client.stopper.stop();
    let stage = client.stage.clone();
    let (ended, rest) = client.end();
    assert!(matches!(ended.end, End::Stopped));
    assert_eq!((ended.unfinished, rest.len()), (0, 0));
    assert_eq!(stage.stopped(), "a");
}

#[test]
fn a_run_that_cannot_be_stopped_does_not_hold_the_end() {
    let mut client = Client::new();
    client.call(1, "deaf a");
    client.stage.started();
    client.close();
    assert_eq!(client.end().0.unfinished, 1);
}

#[test]
fn waiting_calls_do_not_start_at_the_end() {
    let mut client = Client::new();
    for id in 0..20 {
        client.call(id, "hold a");
    }
    let stage = client.stage.clone();
    for _ in 0..4 {
        stage.started();
    }
    client.close();
    let (ended, rest) = client.end();
    assert_eq!((ended.unfinished, rest.len()), (0, 0));
    stage.none_started();
}

#[test]
fn a_subscription_is_acknowledged_kept_open_and_answered_at_the_end() {
    let mut client = Client::new();
    client.request("s", "subscriptions/listen", &modern_listen());
    assert_eq!(
        client.receive(),
        json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": "s"}, "notifications": {}}})
    );
    client.nothing_more();
    client.close();
    assert_eq!(
        client.end().1,
        [json!({"jsonrpc": "2.0", "id": "s", "result": {
            "resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": "s"}}})]
    );
}

#[test]
fn a_cancelled_subscription_is_dropped_silently() {
    let mut client = Client::new();
    client.request(5, "subscriptions/listen", &modern_listen());
    client.receive();
    client.cancel(5);
    client.nothing_more();
    client.close();
    assert!(client.end().1.is_empty());
}

#[test]
fn a_client_that_is_gone_ends_the_server_although_its_input_is_open() {
    let mut client = Client::new();
    client.call(1, "hold a");
    client.stage.started();
    let (stage, ended) = client.hang_up();
    assert!(matches!(ended.end, End::OutputFailed(_)), "{ended:?}");
    assert_eq!(ended.unfinished, 0);
    assert_eq!(stage.stopped(), "a");
}

#[test]
fn containers_are_kept_ready_from_the_end_of_the_handshake_to_the_end() {
    for handshake in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
    ] {
        let mut client = Client::speaking("2025-11-25");
        client.request("probe", "server/discover", &modern_listen());
        assert_eq!(client.receive()["id"], "probe");
        assert!(client.stage.kept().is_empty());
        client.send(&handshake);
        client.send(&handshake);
        client.close();
        let stage = client.stage.clone();
        client.end();
        assert_eq!(stage.kept(), ["expected", "retired"]);
    }
}
