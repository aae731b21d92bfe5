//! Parked containers on a real daemon: used once, gone with das, and a miss when the daemon or the
//! image is not what it was.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Cli, Language, Place, Real, Running, SecondDaemon};

/// A `das mcp` whose client has shaken hands.
fn serve<'a>(das: &Cli<'a>) -> Running<'a> {
    let mut running = das.spawn();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    send(&mut running, &json!({"id": 0, "method": "initialize", "params": params}));
    answer(&running, 0);
    send(&mut running, &json!({"method": "notifications/initialized"}));
    running
}

fn send(running: &mut Running<'_>, message: &Value) {
    let mut message = message.clone();
    message["jsonrpc"] = json!("2.0");
    running.write(format!("{message}\n"));
}

fn answer(running: &Running<'_>, id: u64) -> Value {
    running.wait_for_line(&format!("the answer to {id}"), |line| {
        let message: Value = serde_json::from_str(line).ok()?;
        (message["id"] == id).then_some(message)
    })
}

/// Runs a shell script and gives its verdict and what it printed.
fn call(running: &mut Running<'_>, id: u64, code: &str) -> (Value, Value) {
    let arguments = json!({"code": code, "language": "shell"});
    let params = json!({"name": "run_code", "arguments": arguments});
    send(running, &json!({"id": id, "method": "tools/call", "params": params}));
    let facts = &answer(running, id)["result"]["structuredContent"];
    (facts["verdict"].clone(), facts["stdout"].clone())
}

/// A server that parks shells and nothing else.
fn shells<'a>(das: Cli<'a>, place: &impl Place, image: &str) -> Running<'a> {
    let policy = json!({"images": {"shell": image}, "timeout_seconds": 60, "warm": 1});
    let file = place.home().join("shells.json");
    fs::write(&file, policy.to_string()).expect("a writable directory");
    let file = file.to_str().expect("a path that is text").to_owned();
    serve(&das.args(["mcp", "--audit-log", "audit.jsonl", "--policy"]).arg(file))
}

#[test]
#[ignore = "needs Docker: containers that are parked, used and replaced"]
fn each_parked_container_runs_one_program_and_is_replaced() {
    let real = Real::new();
    let mut das = shells(real.das(), &real, &Language::Shell.image());
    let first = real.wait_for_container_of(das.pid());
    // What one program leaves in its container, the next one must not find.
    let code = "ls /tmp; echo mine > /tmp/left; hostname";
    let said = call(&mut das, 1, code);
    assert_eq!(said.0, "success");
    real.wait_until_gone(&first);
    assert_ne!(real.wait_for_container_of(das.pid()), first);
    let again = call(&mut das, 2, code);
    assert_eq!(again.0, "success");
    assert!(!again.1.to_string().contains("left") && again.1 != said.1, "{again:?}");
    let pid = das.pid();
    das.close_stdin();
    assert_eq!(das.wait().code(), Some(0));
    real.wait_until_none_of(pid);
    let log = fs::read_to_string(real.home().join("audit.jsonl")).expect("a log");
    let warm = |line: &str| serde_json::from_str::<Value>(line).expect("a record")["warm"] == true;
    assert!(log.lines().all(warm), "{log}");
}

#[test]
#[ignore = "needs Docker: parked containers of a das that is killed"]
fn a_das_that_is_killed_leaves_no_parked_container() {
    for signal in [Signal::TERM, Signal::KILL] {
        let real = Real::new();
        let das = shells(real.das(), &real, &Language::Shell.image());
        let pid = das.pid();
        real.wait_for_container_of(pid);
        das.send_signal_to_group(signal);
        assert_eq!(das.wait().signal(), Some(signal.as_raw()));
        real.wait_until_none_of(pid);
    }
}

#[test]
#[ignore = "needs Docker: a container that dies while it is parked"]
fn one_that_is_killed_or_removed_is_a_miss() {
    let real = Real::new();
    let mut das = shells(real.das(), &real, &Language::Shell.image());
    for (id, command) in [(1, ["kill"].as_slice()), (2, &["rm", "--force"])] {
        let parked = real.wait_for_container_of(das.pid());
        real.docker().args(command.iter().copied()).arg(&parked).output();
        // Before its client has ended, das cannot know.
        real.wait_until_gone(&parked);
        assert_eq!(call(&mut das, id, "echo hi"), (json!("success"), json!("hi\n")));
    }
    let pid = das.pid();
    das.close_stdin();
    das.wait();
    real.wait_until_none_of(pid);
}

#[test]
#[ignore = "needs Docker: an image reference that comes to stand for another image"]
fn one_whose_tag_has_moved_is_given_back() {
    let real = Real::new();
    let tag = format!("das-test/moved-{}:1", std::process::id());
    let point_to = |image: &str| {
        assert_eq!(real.docker().args(["tag", image, &tag]).output().code(), Some(0));
    };
    point_to(&Language::Shell.image());
    let mut das = shells(real.das(), &real, &tag);
    let old = real.wait_for_container_of(das.pid());
    point_to(&Language::Python.image());
    real.wait_until_gone(&old);
    assert_eq!(call(&mut das, 1, "echo hi"), (json!("success"), json!("hi\n")));
    das.close_stdin();
    let pid = das.pid();
    das.wait();
    real.wait_until_none_of(pid);
    assert_eq!(real.docker().args(["rmi", &tag]).output().code(), Some(0));
}

#[test]
#[ignore = "needs Docker and root: a daemon of its own that goes"]
fn one_whose_daemon_has_gone_is_a_miss_and_das_says_what_is_wrong() {
    let daemon = SecondDaemon::start();
    let mut das = shells(daemon.das(), &daemon, &Language::Shell.image());
    assert_eq!(call(&mut das, 1, "echo one"), (json!("success"), json!("one\n")));
    daemon.kill();
    assert_eq!(call(&mut das, 2, "echo two").0, "sandbox_error");
    das.close_stdin();
    assert_eq!(das.wait().code(), Some(0));
}
