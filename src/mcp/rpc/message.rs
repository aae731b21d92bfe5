//! Parses a line and sorts what it holds into requests, notifications, responses and what is none of them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{ErrorObject, RequestId, Response, code};

/// The most messages that one batch may hold, so that a short line cannot ask for endless answers.
const MAX_BATCH: usize = 1000;

/// The members of a JSON object, unparsed; of equal names the last counts.
type Members<'a> = BTreeMap<String, &'a RawValue>;

/// What one line holds.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A single message.
    One(Message),
    /// A JSON array of messages; never empty.
    Batch(Vec<Message>),
}

/// One message of the client.
#[derive(Debug)]
pub(crate) enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Answers something; nothing was asked, so it is ignored.
    Response,
    /// None of these; the response says why.
    Refused(Response),
}

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) method: String,
    pub(crate) params: Params,
}

/// The parameters of a request; null and absent are the same as empty.
#[derive(Debug, Default)]
pub(crate) struct Params {
    pub(crate) members: Map<String, Value>,
    /// `_meta.progressToken`, where it is a string or an integer.
    pub(crate) progress_token: Option<RequestId>,
}

/// A notification.
#[derive(Debug)]
pub(crate) struct Notification {
    pub(crate) method: String,
    /// `params.requestId`, where it could be the id of a request.
    pub(crate) request_id: Option<RequestId>,
}

/// Parses one line, which may hold any bytes. What cannot be served is a refused message.
pub(crate) fn parse(line: &[u8]) -> Incoming {
    let Ok(text) = std::str::from_utf8(line) else {
        return Incoming::One(refuse(None, code::PARSE_ERROR, "the line is not valid UTF-8"));
    };
    match serde_json::from_str::<&RawValue>(text) {
        Err(error) => Incoming::One(parse_error(None, &error)),
        Ok(raw) if raw.get().starts_with('[') => batch(raw),
        Ok(raw) => Incoming::One(message(raw)),
    }
}

fn batch(raw: &RawValue) -> Incoming {
    match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        Err(error) => Incoming::One(parse_error(None, &error)),
        Ok(items) if items.is_empty() => Incoming::One(invalid(None, "the batch is empty")),
        Ok(items) if items.len() > MAX_BATCH => {
            let why =
                format!("a batch may hold {MAX_BATCH} messages, this one has {}", items.len());
            Incoming::One(invalid(None, why))
        }
        Ok(items) => Incoming::Batch(items.into_iter().map(message).collect()),
    }
}

fn message(raw: &RawValue) -> Message {
    if !raw.get().starts_with('{') {
        return invalid(None, "a message is a JSON object");
    }
    match members(raw) {
        Err(error) => parse_error(None, &error),
        Ok(members) => sort(&members),
    }
}

fn sort(members: &Members) -> Message {
    let id = members.get("id").copied().map(RequestId::parse);
    let known_id = id.clone().flatten();
    let Some(method) = members.get("method") else {
        return if members.contains_key("result") || members.contains_key("error") {
            Message::Response
        } else {
            invalid(known_id, "`method` is missing")
        };
    };
    if members.get("jsonrpc").is_none_or(|version| text(version).as_deref() != Some("2.0")) {
        return invalid(known_id, "`jsonrpc` must be \"2.0\"");
    }
    let Some(method) = text(method) else {
        return invalid(known_id, "`method` must be a string");
    };
    let params = members.get("params").copied().filter(|params| params.get() != "null");
    if params.is_some_and(|params| !params.get().starts_with('{')) {
        return invalid(known_id, "`params` must be an object");
    }
    match id {
        None => Message::Notification(Notification { method, request_id: request_id(params) }),
        Some(None) => invalid(None, "`id` must be a string or an integer"),
        Some(Some(id)) => request(id, method, params),
    }
}

fn request(id: RequestId, method: String, params: Option<&RawValue>) -> Message {
    match params.map_or_else(|| Ok(Params::default()), Params::parse) {
        Ok(params) => Message::Request(Request { id, method, params }),
        Err(error) => parse_error(Some(id), &error),
    }
}

impl Params {
    fn parse(raw: &RawValue) -> serde_json::Result<Self> {
        let members = serde_json::from_str(raw.get())?;
        Ok(Self { members, progress_token: member(raw, "_meta").and_then(progress_token) })
    }
}

fn progress_token(meta: &RawValue) -> Option<RequestId> {
    member(meta, "progressToken").and_then(RequestId::parse)
}

fn request_id(params: Option<&RawValue>) -> Option<RequestId> {
    params.and_then(|params| member(params, "requestId")).and_then(RequestId::parse)
}

/// A member with the client's own spelling, which a parsed value would not keep.
fn member<'a>(object: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    members(object).ok()?.get(name).copied()
}

fn members(raw: &RawValue) -> serde_json::Result<Members<'_>> {
    serde_json::from_str(raw.get())
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn refuse(id: Option<RequestId>, code: i32, message: impl Into<String>) -> Message {
    Message::Refused(Response::new(id, Err(ErrorObject::new(code, message))))
}

fn parse_error(id: Option<RequestId>, error: &serde_json::Error) -> Message {
    refuse(id, code::PARSE_ERROR, format!("cannot parse the JSON: {error}"))
}

fn invalid(id: Option<RequestId>, message: impl Into<String>) -> Message {
    refuse(id, code::INVALID_REQUEST, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn one(line: impl AsRef<[u8]>) -> Message {
        match parse(line.as_ref()) {
            Incoming::One(message) => message,
            Incoming::Batch(messages) => panic!("a batch: {messages:?}"),
        }
    }

    fn request(line: &str) -> Request {
        let Message::Request(request) = one(line) else { panic!("not a request: {line}") };
        request
    }

    /// The code and the id of a refusal.
    fn refused(line: impl AsRef<[u8]>) -> (i64, Value) {
        let Message::Refused(response) = one(line) else { panic!("not refused") };
        let response = serde_json::to_value(&response).unwrap();
        (response["error"]["code"].as_i64().unwrap(), response["id"].clone())
    }

    #[test]
    fn a_request_has_an_id_a_method_and_perhaps_params() {
        let request = request(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":[1]}}"#);
        assert_eq!(request.method, "m");
        assert_eq!(Value::Object(request.params.members), json!({"x": [1]}));
    }

    #[test]
    fn params_that_are_null_or_absent_are_empty() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#,
        ] {
            assert!(request(line).params.members.is_empty());
        }
    }

    #[test]
    fn of_two_equal_keys_the_last_counts() {
        let line = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m","params":{"a":1,"a":2}}"#;
        let request = request(line);
        assert_eq!(serde_json::to_string(&request.id).unwrap(), "2");
        assert_eq!(request.params.members["a"], 2);
    }

    #[test]
    fn a_progress_token_keeps_the_spelling_of_the_client() {
        for token in ["7", "\"7\"", "123456789012345678901234567890"] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{{"progressToken":{token}}}}}}}"#
            );
            let read = request(&line).params.progress_token.unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), token);
        }
    }

    #[test]
    fn a_message_without_an_id_is_a_notification() {
        let line =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
        let Message::Notification(notification) = one(line) else { panic!("not a notification") };
        assert_eq!(notification.method, "notifications/cancelled");
        assert_eq!(serde_json::to_string(&notification.request_id).unwrap(), "5");
    }

    #[test]
    fn a_response_is_told_apart() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
        ] {
            assert!(matches!(one(line), Message::Response), "{line}");
        }
    }

    #[test]
    fn what_is_not_json_is_a_parse_error_without_an_id() {
        for line in
            ["{bad json", "{\"jsonrpc\":\"2.0\",\"id\":1,", "", "{} {}", "nul", "{\"a\":\"\t\"}"]
        {
            assert_eq!(refused(line), (-32700, Value::Null), "{line}");
        }
        assert_eq!(
            refused(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xFF\"}"),
            (-32700, Value::Null)
        );
    }

    #[test]
    fn params_that_cannot_be_read_are_a_parse_error_for_that_id() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        for value in ["\"\\ud800\"", "1e999", &deep] {
            let line =
                format!(r#"{{"jsonrpc":"2.0","id":4,"method":"m","params":{{"a":{value}}}}}"#);
            assert_eq!(refused(line), (-32700, json!(4)));
        }
    }

    #[test]
    fn json_that_is_no_request_is_invalid_and_keeps_its_id_where_it_has_one() {
        for (line, id) in [
            ("7", Value::Null),
            ("\"ping\"", Value::Null),
            ("null", Value::Null),
            ("{}", Value::Null),
            (r#"{"id":3,"method":"ping"}"#, json!(3)),
            (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x")),
            (r#"{"jsonrpc":2.0,"id":3,"method":"ping"}"#, json!(3)),
            (r#"{"jsonrpc":"2.0","id":3}"#, json!(3)),
            (r#"{"jsonrpc":"2.0","id":3,"method":4}"#, json!(3)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}"#, json!(3)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":"p"}"#, json!(3)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
            ("[]", Value::Null),
        ] {
            assert_eq!(refused(line), (-32600, id), "{line}");
        }
    }

    #[test]
    fn a_batch_keeps_its_order_and_its_bad_items() {
        let line = r#"[{"jsonrpc":"2.0","id":1,"method":"m"},7,{"jsonrpc":"2.0","method":"n"}]"#;
        let Incoming::Batch(messages) = parse(line.as_bytes()) else { panic!("not a batch") };
        assert!(matches!(
            messages[..],
            [Message::Request(_), Message::Refused(_), Message::Notification(_)]
        ));
    }

    #[test]
    fn a_batch_that_would_ask_for_endless_answers_is_refused_whole() {
        let line = format!("[{}1]", "1,".repeat(MAX_BATCH));
        assert_eq!(refused(line), (-32600, Value::Null));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(line: Vec<u8>) {
            let _incoming = parse(&line);
        }

        #[test]
        fn whatever_has_an_id_is_answered_with_it(id in 0_u32.., method in ".*", rest in "\\PC*") {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"rest": rest}});
            prop_assert_eq!(serde_json::to_value(&request(&line.to_string()).id).unwrap(), json!(id));
        }
    }
}
