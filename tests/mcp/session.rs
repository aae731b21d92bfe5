//! One conversation with `das mcp`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Das, Finished, Place as _, Running, Scenario, StandIn};

/// A client of a `das mcp` that has just been started.
pub(super) struct Session<'a> {
    pub(super) running: Running<'a>,
}

impl<'a> Session<'a> {
    /// With no containers kept ready, whose number at a given time is anybody's guess.
    pub(super) fn new(stand_in: &'a StandIn) -> Self {
        Self::with_policy(stand_in, "{}", &[])
    }

    /// With this policy and more arguments.
    pub(super) fn with_policy(stand_in: &'a StandIn, policy: &str, args: &[&str]) -> Self {
        let file = stand_in.home().join("policy.json");
        fs::write(&file, policy).expect("a writable directory");
        let policy = file.to_str().expect("a temporary directory").to_owned();
        let das = Das::new(stand_in).args(["mcp", "--warm", "0", "--policy"]).arg(policy);
        Self::start(&das.args(args.iter().copied()))
    }

    pub(super) fn start(das: &Das<'a>) -> Self {
        Self { running: das.spawn() }
    }

    /// A client that has agreed on a version.
    pub(super) fn speaking(stand_in: &'a StandIn, version: &str) -> Self {
        let mut session = Self::new(stand_in);
        session.initialize(version);
        session
    }

    pub(super) fn initialize(&mut self, version: &str) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = self.ask("initialize", "initialize", &params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.running.write(format!("{message}\n"));
    }

    pub(super) fn request(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        let id: Value = id.into();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// Sends a request and waits for its answer.
    pub(super) fn ask(&mut self, id: impl Into<Value>, method: &str, params: &Value) -> Value {
        let id: Value = id.into();
        self.request(id.clone(), method, params);
        self.answer(&id)
    }

    pub(super) fn call(&mut self, id: impl Into<Value>, code: &str) {
        self.request(id, "tools/call", &json!({"name": "run_code", "arguments": {"code": code}}));
    }

    pub(super) fn cancel(&mut self, id: impl Into<Value>) {
        let id: Value = id.into();
        let params = json!({"requestId": id});
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
    }

    /// Waits for the answer to a request.
    #[track_caller]
    pub(super) fn answer(&self, id: &Value) -> Value {
        self.running.wait_for_line(&format!("the answer to {id}"), |line| {
            Some(message(line)).filter(|message| message["id"] == *id)
        })
    }

    /// Everything that das has said, each line a message.
    pub(super) fn messages(&self) -> Vec<Value> {
        messages(&self.running.stdout())
    }

    /// Closes das's input and waits for its end.
    pub(super) fn close(mut self) -> Finished {
        self.running.close_stdin();
        self.running.wait()
    }
}

/// All whole lines; whatever is not a message of the protocol fails the test.
pub(super) fn messages(stdout: &[u8]) -> Vec<Value> {
    let text = str::from_utf8(stdout).expect("valid UTF-8");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(message).collect()
}

fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).expect("a line of JSON");
    let of_protocol = |message: &Value| message["jsonrpc"] == "2.0";
    let batch = message.as_array().is_some_and(|batch| batch.iter().all(of_protocol));
    assert!(batch || of_protocol(&message), "{line}");
    message
}

/// `params` with what makes a request one of 2026-07-28.
pub(super) fn modern(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}

/// Programs that the stand-in runs by a word in their code.
pub(super) fn programs() -> Scenario {
    let program = Scenario::program;
    program().acts_on_code(&[
        ("hello", program().prints("hello\n").exits(0)),
        ("fail", program().prints_to_stderr("boom\n").exits(3)),
        ("memory", program().runs_out_of_memory()),
        ("hold", program().marks("holding").runs_until_killed()),
        // What is given back unused.
        ("", program().exits(0)),
    ])
}

/// The answer without what differs from run to run.
pub(super) fn timeless(mut answer: Value) -> Value {
    let duration = &mut answer["result"]["structuredContent"]["duration_seconds"];
    assert!(duration.is_number());
    *duration = json!("[TIME]");
    let text = &mut answer["result"]["content"][0]["text"];
    let (headline, rest) = text.as_str().and_then(|text| text.split_once('\n')).unwrap_or_default();
    if let Some((what, _seconds)) = headline.rsplit_once(" · ") {
        *text = json!(format!("{what} · [TIME]\n{rest}"));
    }
    answer
}
