//! What holds of every session of a client, whatever its lines say, up to where code would run; and
//! what clients are told of what ran. For fuzzers and tests.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::protocol::{Action, Call, Place, Protocol, Version, call};
use super::rpc::{
    Incoming, Line, Lines, Message, Notification, Params, Reply, Request, RequestId, Response,
    parse, to_line,
};
use super::tool::always::Always;
use super::tool::{Job, Tool};
use crate::capture::Captured;
use crate::policy::SandboxPolicy;
use crate::runner::Stopper;
use crate::{Outcome, Verdict};

/// The most bytes of a line, so that a short input can have more.
const LONGEST_LINE: usize = 900;

/// The most bytes of an error's message, and of a note to a caller.
const LONGEST_MESSAGE: usize = 1000;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Error codes that a request can be answered with before anything runs.
const CODES: [i32; 5] = [-32700, -32600, -32601, -32602, -32022];

/// Serves the lines of one client.
pub fn rpc_line(input: &[u8]) {
    let mut session = Session::new();
    for line in Lines::new(input, LONGEST_LINE) {
        match line.expect("memory can be read") {
            Line::TooLong => assert!(input.len() > LONGEST_LINE),
            Line::Message(line) => {
                assert!((1..=LONGEST_LINE).contains(&line.len()) && !line.contains(&b'\n'));
                session.line(&line);
            }
        }
    }
}

/// A client's session, without anything that runs code.
struct Session {
    policy: SandboxPolicy,
    tool: Arc<Tool>,
    protocol: Protocol,
}

impl Session {
    fn new() -> Self {
        let policy =
            SandboxPolicy { timeout_seconds: 5.0, max_code_bytes: 64, ..SandboxPolicy::default() };
        let tool = Arc::new(Tool::new(policy.clone(), Always(None)));
        Self { policy, protocol: Protocol::new(Arc::clone(&tool)), tool }
    }

    fn line(&mut self, line: &[u8]) {
        // What the parser of values cannot read may still have a part that can be answered.
        let value: Option<Value> = serde_json::from_slice(line).ok();
        match parse(line) {
            Incoming::One(message) => {
                let sorted = value.as_ref().map(sort);
                self.message(line, message, Place::Alone, sorted);
            }
            Incoming::Batch(messages) => {
                assert!((1..=1000).contains(&messages.len()));
                let items = value.as_ref().and_then(Value::as_array);
                assert!(items.is_none_or(|items| items.len() == messages.len()));
                let had_batches = self.protocol.has_batches();
                for (index, message) in messages.into_iter().enumerate() {
                    let sorted = items.map(|items| sort(&items[index]));
                    self.message(line, message, Place::InBatch, sorted);
                }
                assert_eq!(self.protocol.has_batches(), had_batches, "no batch negotiates");
            }
        }
    }

    fn message(&mut self, line: &[u8], message: Message, place: Place, sorted: Option<Kind>) {
        let (kind, method) = match &message {
            Message::Request(request) => (Kind::Request, Some(&request.method)),
            Message::Notification(notification) => (Kind::Notification, Some(&notification.method)),
            Message::Response => (Kind::Response, None),
            Message::Refused(_) => (Kind::Refused, None),
        };
        assert!(sorted.is_none_or(|sorted| sorted == kind), "{kind:?} is in truth {sorted:?}");
        assert!(method.is_none_or(|method| method.len() <= line.len()));
        match message {
            Message::Request(request) => self.request(line, request, place),
            Message::Notification(Notification { method: _, request_id }) => {
                if let Some(id) = request_id {
                    as_written(line, &id);
                }
            }
            Message::Response => {}
            Message::Refused(response) => assert!(sent(line, &response).is_some(), "an error"),
        }
    }

    fn request(&mut self, line: &[u8], request: Request, place: Place) {
        let Request { id, method, params } = request;
        as_written(line, &id);
        let action = self.decide_twice(&method, params, place);
        match action {
            Action::Reply(reply) => answered(line, id, &method, place, reply),
            Action::Run(call) => {
                assert_eq!(method, "tools/call");
                self.granted(line, &call);
            }
            Action::Subscribe => {
                assert_eq!((method.as_str(), place), ("subscriptions/listen", Place::Alone));
            }
        }
    }

    /// A request that names its version is decided on as if it were the first.
    fn decide_twice(&mut self, method: &str, params: Params, place: Place) -> Action {
        let copy = Params {
            members: params.members.clone(),
            progress_token: params.progress_token.clone(),
        };
        let names_version =
            params.members.get("_meta").is_some_and(|meta| meta[VERSION_KEY].is_string());
        let action = self.protocol.decide(method, params, place);
        if names_version {
            let first = Protocol::new(Arc::clone(&self.tool)).decide(method, copy, place);
            assert_eq!(format!("{action:?}"), format!("{first:?}"));
        }
        action
    }

    /// A call is granted no more than the policy does.
    fn granted(&self, line: &[u8], call: &Call) {
        let Call { job: Job { code, language, timeout, notes }, version: _, progress_token } = call;
        assert!(!code.trim().is_empty() && !code.contains('\0'));
        assert!(code.len() as u64 <= self.policy.max_code_bytes, "{} bytes", code.len());
        assert!(self.policy.offered_languages().contains(&language.as_str()), "{language}");
        let longest = Duration::from_secs_f64(self.policy.timeout_seconds);
        assert!((Duration::from_millis(100)..=longest).contains(timeout), "{timeout:?}");
        for note in notes {
            is_short_and_plain(note);
        }
        if let Some(token) = progress_token {
            as_written(line, token);
        }
    }
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    Notification,
    Response,
    Refused,
}

/// Sorts a message that has been read whole, by the words of JSON-RPC 2.0.
fn sort(message: &Value) -> Kind {
    let Some(message) = message.as_object() else { return Kind::Refused };
    let Some(method) = message.get("method") else {
        let answers = message.contains_key("result") || message.contains_key("error");
        return if answers { Kind::Response } else { Kind::Refused };
    };
    let params = message.get("params").is_none_or(|it| it.is_null() || it.is_object());
    let version = message.get("jsonrpc").is_some_and(|it| it == "2.0");
    if !(params && version && method.is_string()) {
        return Kind::Refused;
    }
    match message.get("id") {
        None => Kind::Notification,
        Some(Value::String(_)) => Kind::Request,
        Some(Value::Number(id)) if id.as_f64().is_some_and(|id| id.fract() == 0.0) => Kind::Request,
        Some(_) => Kind::Refused,
    }
}

/// A response as a client reads it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer<'a> {
    jsonrpc: String,
    #[serde(borrow)]
    id: &'a RawValue,
    result: Option<&'a RawValue>,
    error: Option<AnswerError>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerError {
    code: i32,
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

/// Methods that are there in one version or another.
const METHODS: [&str; 9] = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "server/discover",
    "subscriptions/listen",
];

/// A request is answered with its id.
fn answered(line: &[u8], id: RequestId, method: &str, place: Place, reply: Reply) {
    let error = sent(line, &Response::new(Some(id), reply));
    if error.is_none() {
        assert!(METHODS.contains(&method), "{method:?} has a result");
        assert!(place == Place::Alone || method != "initialize");
    }
    if ["tools/list", "tools/call"].contains(&method) {
        assert!(error.is_none_or(|error| error.code != -32601), "{method} is always there");
    }
}

/// Sends a response, checks what a client gets, and returns the error in it.
fn sent(line: &[u8], response: &Response) -> Option<AnswerError> {
    let text = one_line(response);
    let Answer { jsonrpc, id, result, error } = serde_json::from_str(&text).expect("a response");
    assert_eq!(jsonrpc, "2.0");
    assert_ne!(result.is_some(), error.is_some(), "{text}");
    if id.get() != "null" {
        spelled(line, id.get());
    }
    if let Some(AnswerError { code, message, data }) = &error {
        assert!(CODES.contains(code), "{code}");
        is_short_and_plain(message);
        let data = data.as_ref().map_or_else(String::new, Value::to_string);
        assert!(data.len() <= LONGEST_MESSAGE, "{data}");
    }
    error
}

/// What goes over the wire, without its newline.
fn one_line(message: &impl Serialize) -> String {
    let mut line = String::from_utf8(to_line(message)).expect("lines are UTF-8");
    assert_eq!(line.pop(), Some('\n'));
    assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{2029}']), "{line:?}");
    line
}

/// An id or a token goes back as the client wrote it.
fn as_written(line: &[u8], id: &RequestId) {
    spelled(line, &one_line(id));
}

/// The text stands in the line. What some clients take for the end of a line is escaped in it.
fn spelled(line: &[u8], text: &str) {
    let line = std::str::from_utf8(line).expect("what has an id is UTF-8");
    let line = line.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    assert!(line.contains(text), "{text} is not in {line}");
}

fn is_short_and_plain(text: &str) {
    assert!(text.len() <= LONGEST_MESSAGE, "{text}");
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

/// What a client of the oldest version and one of the newest are told of a program that printed this, in about `most` bytes:
/// the tool's definition, and the result of the call.
pub(crate) fn told(stdout: Captured, stderr: Captured, most: u64) -> Vec<(Value, Value)> {
    let outcome = Outcome {
        verdict: Verdict::Error,
        exit_code: Some(1),
        signal: None,
        hint: None,
        stdout,
        stderr,
        duration: Duration::from_secs(1),
        warnings: Vec::new(),
        warm: false,
        language: "python".parse().expect("a language"),
        image: "python".parse().expect("an image"),
        code_sha256: String::new(),
        run_id: String::new(),
    };
    let policy = SandboxPolicy { max_output_bytes: most, ..SandboxPolicy::default() };
    let tool = Tool::new(policy, Always(Some(outcome)));
    let job = Job {
        code: "1".to_owned(),
        language: "python".to_owned(),
        timeout: Duration::from_secs(1),
        notes: Vec::new(),
    };
    let result = tool.run(&job, &Stopper::default());
    let told = |version| {
        let line = one_line(&Response::new(None, Ok(call(version, &result))));
        let response: Value = serde_json::from_str(&line).expect("a response is JSON");
        (tool.definition(version), response["result"].clone())
    };
    [Version::V2024_11_05, Version::V2026_07_28].map(told).into()
}
