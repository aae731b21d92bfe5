//! Input that is odd, broken or hostile: each is answered as it should be, and serving goes on.

use serde_json::{Value, json};

use super::client::Client;
use crate::mcp::rpc::MAX_LINE_BYTES;

/// Sends one line, or several; checks each answer's id and error code (0: a result), and that
/// serving goes on.
fn answered(line: impl AsRef<[u8]>, answers: &[(Value, i64)]) {
    let mut client = Client::new();
    client.send_bytes(line.as_ref());
    client.send_bytes(b"\n");
    for (id, code) in answers {
        let answer = client.receive();
        let got = answer["error"]["code"].as_i64().unwrap_or(0);
        assert_eq!((&answer["id"], got), (id, *code), "{answer}");
        assert_eq!(answer["jsonrpc"], "2.0");
    }
    client.nothing_more();
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn what_is_not_json_is_a_parse_error() {
    for line in
        ["{bad json", "{", "\"", "ping", "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": 'ping'}"]
    {
        answered(line, &[(Value::Null, -32700)]);
    }
}

#[test]
fn json_that_is_no_request_is_invalid() {
    for (line, id) in [
        (r#"{"id":1,"method":"ping"}"#, json!(1)),
        (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
        ("17", Value::Null),
    ] {
        answered(line, &[(id, -32600)]);
    }
}

#[test]
fn an_array_is_no_message_of_this_version() {
    answered(format!("[{PING}]"), &[(Value::Null, -32600)]);
    answered("[]", &[(Value::Null, -32600)]);
}

#[test]
fn unknown_methods_are_told_and_unknown_notifications_are_not() {
    answered(r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, &[(json!(1), -32601)]);
    answered(
        r#"{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}"#,
        &[(json!(1), -32601)],
    );
    answered(r#"{"jsonrpc":"2.0","method":"no/such"}"#, &[]);
    answered(r#"{"jsonrpc":"2.0","method":"tools/list"}"#, &[]);
    answered(
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"run_code","arguments":{"code":"hold a"}}}"#,
        &[],
    );
    answered(
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"x":1}}"#,
        &[],
    );
}

#[test]
fn responses_are_ignored() {
    answered(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, &[]);
    answered(r#"{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m"}}"#, &[]);
}

#[test]
fn params_of_null_are_no_params() {
    answered(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#, &[(json!(1), 0)]);
}

#[test]
fn line_ends_margins_and_blank_lines_do_not_matter() {
    answered(format!("\r\n\n  \t{PING} \r\n\r\n"), &[(json!(1), 0)]);
}

#[test]
fn a_byte_order_mark_at_the_start_does_not_matter() {
    answered(format!("\u{feff}{PING}"), &[(json!(1), 0)]);
    answered(format!("{PING}\n\u{feff}{PING}"), &[(json!(1), 0), (Value::Null, -32700)]);
}

#[test]
fn invalid_utf_8_and_lone_surrogates_are_parse_errors() {
    answered(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", &[(Value::Null, -32700)]);
    let surrogate = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}"#;
    answered(surrogate, &[(json!(1), -32700)]);
}

#[test]
fn nesting_that_no_request_needs_is_a_parse_error() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{deep}}}}}"#);
    answered(line, &[(json!(1), -32700)]);
}

#[test]
fn ids_come_back_as_they_were_written() {
    for id in ["9223372036854775807", "18446744073709551615", "-1", "\"\"", "\"a\\u0000b\""] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        answered(line, &[(serde_json::from_str(id).unwrap(), 0)]);
    }
}

#[test]
fn a_line_over_the_cap_is_refused_and_not_remembered() {
    let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#.to_vec();
    line.resize(MAX_LINE_BYTES + 1, b'x');
    answered(line, &[(Value::Null, -32600)]);
}

#[test]
fn every_line_out_is_one_line_whatever_the_program_prints() {
    let mut client = Client::new();
    client.call("u\u{2028}", "print a\u{2028}b\u{2029}\u{1b}[31mred\n\u{1}x");
    let answer = client.receive();
    assert_eq!(answer["id"], "u\u{2028}");
    assert_eq!(answer["result"]["structuredContent"]["stdout"], "a\u{2028}b\u{2029}red\n␁x");
}
