//! A client of `das mcp`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process;

/// A `das mcp` that has been started.
#[derive(Debug)]
pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
    /// From the start of the process to the answer to `initialize`.
    pub(crate) initialized_after: Duration,
}

impl Session {
    /// Starts one and shakes hands.
    pub(crate) fn start(args: &[&str]) -> Self {
        let begun = Instant::now();
        let mut command = process::das(&[&["mcp"], args].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("das can be started");
        process::remember(&child);
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("it was asked for"));
        let initialized_after = Duration::ZERO;
        let mut session = Self { child, stdin, stdout, last_id: 0, initialized_after };
        let client = json!({"name": "bench", "version": "1"});
        session.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        );
        session.initialized_after = begun.elapsed();
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Duration {
        let begun = Instant::now();
        self.request(method, params);
        self.answer();
        begun.elapsed()
    }

    /// Runs a program and waits for its result.
    pub(crate) fn call(&mut self, code: &str) -> Duration {
        let begun = Instant::now();
        self.request_call(code);
        assert_success(&self.answer());
        begun.elapsed()
    }

    /// Runs so many programs at once; how long each took.
    pub(crate) fn burst(&mut self, code: &str, count: usize) -> Vec<Duration> {
        let begun = Instant::now();
        (0..count).for_each(|_| self.request_call(code));
        (0..count)
            .map(|_| {
                assert_success(&self.answer());
                begun.elapsed()
            })
            .collect()
    }

    pub(crate) fn request_call(&mut self, code: &str) {
        self.request("tools/call", &json!({"name": "run_code", "arguments": {"code": code}}));
    }

    /// The next answer.
    pub(crate) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("a line of JSON")
    }

    fn request(&mut self, method: &str, params: &Value) {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("open until the end");
        writeln!(stdin, "{message}").expect("a das that reads");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.child.wait().expect("a child of this process");
    }
}

fn assert_success(answer: &Value) {
    let verdict = &answer["result"]["structuredContent"]["verdict"];
    assert_eq!(verdict, "success", "{answer}");
}
