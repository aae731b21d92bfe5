//! A client in the same process, and programs that do as the test says.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{Ended, Pace, Server, ServerStopper};
use crate::mcp::tool::test_outcome::{captured, test_outcome};
use crate::mcp::tool::{Job, RunCode, Tool};
use crate::policy::SandboxPolicy;
use crate::runner::Stopper;
use crate::sandbox::RunError;
use crate::{Outcome, Verdict};

/// How long a test waits for what must come before it fails.
const BOUND: Duration = Duration::from_secs(20);

/// Progress that no test has to wait for.
const FAST: Pace = Pace { first: Duration::from_millis(2), every: Duration::from_millis(2) };

/// Speaks with a server over two pipes.
pub(super) struct Client {
    to: Option<PipeWriter>,
    lines: Receiver<String>,
    server: JoinHandle<std::io::Result<Ended>>,
    pub(super) stopper: ServerStopper,
    pub(super) stage: Stage,
}

/// Where programs run. A program is `print TEXT`, `hold NAME`, `deaf NAME` or `panic`.
#[derive(Clone)]
pub(super) struct Stage {
    started: Arc<Mutex<Receiver<String>>>,
    released: Arc<Mutex<HashSet<String>>>,
    stopped: Arc<Mutex<Receiver<String>>>,
    kept: Arc<Mutex<Receiver<&'static str>>>,
}

impl Client {
    pub(super) fn new() -> Self {
        Self::with_policy(SandboxPolicy::default())
    }

    pub(super) fn with_policy(policy: SandboxPolicy) -> Self {
        let (stage, run) = stage();
        let server = Server::new(Tool::new(policy, run), FAST);
        let stopper = server.stopper();
        let (their_input, to) = std::io::pipe().unwrap();
        let (from, their_output) = std::io::pipe().unwrap();
        let server = thread::spawn(move || server.serve(their_input, their_output));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(from).lines() {
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Self { to: Some(to), lines, server, stopper, stage }
    }

    /// A client that has agreed on a version.
    pub(super) fn speaking(version: &str) -> Self {
        let mut client = Self::new();
        client.request(0, "initialize", &json!({"protocolVersion": version}));
        assert_eq!(client.receive()["result"]["protocolVersion"], version);
        client
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        self.to.as_mut().expect("the input is open").write_all(bytes).unwrap();
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub(super) fn request(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        self.send(&request(id, method, params));
    }

    /// Calls the tool.
    pub(super) fn call(&mut self, id: impl Into<Value>, code: &str) {
        self.send(&call(id, code));
    }

    /// Calls the tool and asks for progress.
    pub(super) fn call_with_progress(&mut self, id: impl Into<Value>, token: &Value, code: &str) {
        let params = json!({"name": "run_code", "arguments": {"code": code}, "_meta": {"progressToken": token}});
        self.request(id, "tools/call", &params);
    }

    pub(super) fn cancel(&mut self, id: impl Into<Value>) {
        self.send(&cancellation(id));
    }

    /// The next message of the server.
    pub(super) fn receive(&self) -> Value {
        let line = self.lines.recv_timeout(BOUND).expect("the server says nothing");
        serde_json::from_str(&line).unwrap()
    }

    /// The next message that is not progress.
    pub(super) fn receive_answer(&self) -> Value {
        loop {
            let message = self.receive();
            if message["method"] != "notifications/progress" {
                return message;
            }
        }
    }

    /// Fails if the server has said anything that was not received: a ping is answered after
    /// all that.
    pub(super) fn nothing_more(&mut self) {
        self.request("nothing more", "ping", &json!({}));
        let next = self.receive();
        assert_eq!(next["id"], "nothing more", "{next}");
    }

    /// Closes the input.
    pub(super) fn close(&mut self) {
        self.to = None;
    }

    /// Stops reading, as a client does that was killed, and pings until the server notices.
    pub(super) fn hang_up(mut self) -> (Stage, Ended) {
        drop(self.lines);
        while !self.server.is_finished() {
            // The pipe breaks once the server has ended.
            let ping = format!("{}\n", request(0, "ping", &json!({})));
            self.to.as_mut().expect("the input is open").write_all(ping.as_bytes()).ok();
        }
        (self.stage, self.server.join().unwrap().unwrap())
    }

    /// How the server ended, and what it still said. The input stays as it is.
    pub(super) fn end(self) -> (Ended, Vec<Value>) {
        let ended = self.server.join().unwrap().unwrap();
        let rest = self.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
        (ended, rest)
    }
}

pub(super) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

pub(super) fn call(id: impl Into<Value>, code: &str) -> Value {
    request(id, "tools/call", &json!({"name": "run_code", "arguments": {"code": code}}))
}

pub(super) fn cancellation(id: impl Into<Value>) -> Value {
    let params = json!({"requestId": id.into(), "reason": "the user asked for it"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

impl Stage {
    /// The name of the next program that started.
    pub(super) fn started(&self) -> String {
        next(&self.started)
    }

    /// The name of the next program that was stopped.
    pub(super) fn stopped(&self) -> String {
        next(&self.stopped)
    }

    /// What the server has asked to be kept ready and given back so far.
    pub(super) fn kept(&self) -> Vec<&'static str> {
        self.kept.lock().unwrap().try_iter().collect()
    }

    /// Lets a program end.
    pub(super) fn release(&self, name: &str) {
        self.released.lock().unwrap().insert(name.to_owned());
    }

    /// Fails if a program has started that was not asked after.
    pub(super) fn none_started(&self) {
        assert!(self.started.lock().unwrap().try_recv().is_err(), "a program has started");
    }
}

fn next(names: &Mutex<Receiver<String>>) -> String {
    names.lock().unwrap().recv_timeout(BOUND).expect("no such program")
}

/// The other side of a stage.
#[derive(Debug)]
struct Programs {
    start: Sender<String>,
    stop: Sender<String>,
    released: Arc<Mutex<HashSet<String>>>,
    kept: Sender<&'static str>,
}

fn stage() -> (Stage, Programs) {
    let (start, started) = channel();
    let (stop, stopped) = channel();
    let (keep, kept) = channel();
    let released = Arc::new(Mutex::new(HashSet::new()));
    let stage = Stage {
        started: Arc::new(Mutex::new(started)),
        released: Arc::clone(&released),
        stopped: Arc::new(Mutex::new(stopped)),
        kept: Arc::new(Mutex::new(kept)),
    };
    (stage, Programs { start, stop, released, kept: keep })
}

impl RunCode for Programs {
    fn run(&self, job: &Job, stopper: &Stopper) -> Result<Outcome, RunError> {
        let (verb, name) = job.code.split_once(' ').unwrap_or((&job.code, ""));
        Ok(match verb {
            "print" => outcome(Verdict::Success, name),
            "hold" => self.hold(name, &|| stopper.cause().is_some()),
            "deaf" => self.hold(name, &|| false),
            "panic" => panic!("a bug in the sandbox"),
            other => panic!("no such program: {other}"),
        })
    }

    fn expect_calls(&self) {
        self.kept.send("expected").unwrap();
    }

    fn retire(&self) {
        self.kept.send("retired").unwrap();
    }

    fn retired_by(&self, _until: Instant) -> bool {
        true
    }
}

impl Programs {
    /// A program that runs until it is released or stopped.
    fn hold(&self, name: &str, is_stopped: &dyn Fn() -> bool) -> Outcome {
        // The test may have ended already.
        self.start.send(name.to_owned()).ok();
        loop {
            if is_stopped() {
                self.stop.send(name.to_owned()).ok();
                return outcome(Verdict::Cancelled, "");
            }
            if self.released.lock().unwrap().contains(name) {
                return outcome(Verdict::Success, name);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn outcome(verdict: Verdict, stdout: &str) -> Outcome {
    Outcome { stdout: captured(stdout), ..test_outcome(verdict) }
}
