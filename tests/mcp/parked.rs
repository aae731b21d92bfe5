//! Parked containers of `das mcp`: started ahead, each used once, gone with das.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::session::{Session, modern, programs};
use crate::support::{Answer, Call, Das, Events, Place as _, Scenario, StandIn, Trigger};

/// A session that has not begun.
fn start<'a>(stand_in: &'a StandIn, args: &[&str]) -> Session<'a> {
    Session::start(&Das::new(stand_in).arg("mcp").args(args.iter().copied()))
}

/// A session with parked containers, the first of which waits for its program.
fn parking<'a>(stand_in: &'a StandIn, args: &[&str]) -> Session<'a> {
    let mut session = start(stand_in, &[&["--warm", "1"], args].concat());
    session.initialize("2025-11-25");
    wait_for_parked(stand_in, 1);
    session
}

/// Waits until the first so many containers have been started.
fn wait_for_parked(stand_in: &StandIn, count: usize) -> Vec<Call> {
    let runs = stand_in.wait_for_calls("run", count);
    for run in &runs {
        stand_in.eventually("a parked container", || {
            let phase = stand_in.container_phase(run.container());
            (phase.as_deref() == Some("running") || is_gone(stand_in, run)).then_some(())
        });
    }
    runs
}

fn is_gone(stand_in: &StandIn, run: &Call) -> bool {
    stand_in.runs().iter().any(|call| call.number == run.number && call.ended.is_some())
}

fn run(session: &mut Session<'_>, id: u32, code: &str) -> Value {
    session.call(id, code);
    session.answer(&json!(id))["result"]["structuredContent"].clone()
}

/// How many containers got this code.
fn times_run(stand_in: &StandIn, code: &str) -> usize {
    stand_in.runs().iter().filter(|run| run.stdin == code.as_bytes()).count()
}

/// Every line of the audit log.
fn audit(stand_in: &StandIn) -> Vec<Value> {
    let log = fs::read_to_string(stand_in.home().join("audit.jsonl")).expect("a log");
    log.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

#[test]
fn nothing_is_started_before_the_handshake_is_done() {
    let stand_in = StandIn::playing(programs());
    let mut session = start(&stand_in, &["--warm", "2"]);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    session.ask(1, "initialize", &params);
    session.ask(2, "ping", &json!({}));
    assert!(stand_in.calls().is_empty());
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    wait_for_parked(&stand_in, 2);
    session.close();
}

#[test]
fn without_a_handshake_the_list_of_tools_is_what_starts_them() {
    let stand_in = StandIn::playing(programs());
    let mut session = start(&stand_in, &["--warm", "1"]);
    session.ask(1, "server/discover", &modern(json!({})));
    assert!(stand_in.calls().is_empty());
    session.ask(2, "tools/list", &modern(json!({})));
    wait_for_parked(&stand_in, 1);
    session.close();
}

#[test]
fn a_parked_container_has_the_command_line_that_explain_prints() {
    let stand_in = StandIn::playing(programs());
    let session = parking(&stand_in, &["--memory", "300"]);
    let explain = Das::new(&stand_in).args(["explain", "--json", "--memory", "300"]).output();
    let explained: Vec<String> = serde_json::from_slice(&explain.stdout).unwrap();
    // But for the name, the owner and the time until which it may live.
    let same = |words: &[String]| {
        let own = ["das-", "docker-agent-sandbox."];
        let words = words.iter().filter(|word| !own.iter().any(|start| word.starts_with(start)));
        words.cloned().collect::<Vec<_>>()
    };
    assert_eq!(same(&stand_in.runs()[0].argv), same(&explained[1..]));
    session.close();
}

#[test]
fn a_call_runs_in_the_parked_container_and_the_audit_log_says_so() {
    let stand_in = StandIn::playing(programs());
    let mut session = parking(&stand_in, &["--audit-log", "audit.jsonl"]);
    let facts = run(&mut session, 1, "hello");
    assert_eq!((&facts["verdict"], &facts["stdout"]), (&json!("success"), &json!("hello\n")));
    assert_eq!(facts.get("warm"), None, "what callers are told does not change");
    assert_eq!(stand_in.runs()[0].stdin, b"hello");
    let [line] = audit(&stand_in).try_into().unwrap();
    assert_eq!(line["warm"], json!(true));
    assert_eq!(stand_in.runs()[0].container(), format!("das-{}", line["run_id"].as_str().unwrap()));
    session.close();
}

#[test]
fn each_container_gets_one_program_and_is_replaced() {
    let stand_in = StandIn::playing(programs());
    let mut session = parking(&stand_in, &[]);
    for id in 1..=3 {
        assert_eq!(run(&mut session, id, "hello")["verdict"], "success");
        wait_for_parked(&stand_in, 1 + id as usize);
    }
    assert_eq!(times_run(&stand_in, "hello"), 3);
    session.close();
    let others = stand_in.runs().iter().filter(|run| run.stdin.is_empty()).count();
    assert_eq!((stand_in.runs().len(), others), (4, 1));
}

#[test]
fn as_many_are_parked_as_the_policy_says_and_no_more() {
    let stand_in = StandIn::playing(programs());
    let mut session = parking(&stand_in, &["--warm", "3"]);
    wait_for_parked(&stand_in, 3);
    run(&mut session, 1, "hello");
    wait_for_parked(&stand_in, 4);
    run(&mut session, 2, "hello");
    wait_for_parked(&stand_in, 5);
    session.close();
    assert_eq!(stand_in.runs().len(), 5, "one for each call, and three");
}

#[test]
fn the_deadline_starts_when_the_code_is_sent() {
    let stand_in = StandIn::playing(programs());
    let parked = Instant::now();
    let mut session = parking(&stand_in, &["--timeout", "2"]);
    stand_in.eventually("a container that is older than the timeout", || {
        (parked.elapsed() > Duration::from_millis(2500)).then_some(())
    });
    assert_eq!(run(&mut session, 1, "hello")["verdict"], "success");
    assert_eq!(run(&mut session, 2, "hold")["verdict"], "timeout");
    session.close();
    stand_in.wait_until_empty();
}

#[test]
fn one_that_died_is_a_miss_and_the_code_runs_once() {
    let stand_in = StandIn::playing(programs());
    let mut session = parking(&stand_in, &["--audit-log", "audit.jsonl"]);
    let parked = stand_in.runs().remove(0);
    for command in [["kill"].as_slice(), &["rm", "--force"]] {
        Das::docker(&stand_in).args(command.iter().copied()).arg(parked.container()).output();
    }
    stand_in.eventually("the client's end", || is_gone(&stand_in, &parked).then_some(()));
    assert_eq!(run(&mut session, 1, "hello")["verdict"], "success");
    assert_eq!(times_run(&stand_in, "hello"), 1);
    assert_eq!(audit(&stand_in)[0].get("warm"), None);
    session.close();
}

#[test]
fn one_that_dies_before_its_client_takes_the_code_is_a_miss_and_the_code_runs_once() {
    let dying = Scenario::program_that_never_reads().waits_for(Trigger::file("die")).exits(137);
    let stand_in = StandIn::playing(dying.times(1).or(programs()));
    let mut session = parking(&stand_in, &[]);
    session.call(1, "hello");
    // The call is at work by the time that the next request is answered.
    session.ask(2, "ping", &json!({}));
    stand_in.trigger("die");
    let answer = session.answer(&json!(1));
    assert_eq!(answer["result"]["structuredContent"]["verdict"], "success");
    assert_eq!(times_run(&stand_in, "hello"), 1);
    session.close();
}

#[test]
fn one_whose_client_took_the_code_is_never_followed_by_another() {
    for program in [Scenario::program().exits(3), Scenario::program().exits(137)] {
        let stand_in = StandIn::playing(Scenario::program().acts_on_code(&[("x", program)]));
        let mut session = parking(&stand_in, &[]);
        assert_eq!(run(&mut session, 1, "x")["verdict"], "error");
        session.close();
        assert_eq!(times_run(&stand_in, "x"), 1);
    }
}

#[test]
fn one_that_waits_too_long_is_given_back_and_not_replaced() {
    let stand_in = StandIn::playing(programs());
    fs::write(stand_in.home().join("policy.json"), r#"{"warm_idle_seconds": 1}"#).unwrap();
    let mut session = parking(&stand_in, &["--policy", "policy.json"]);
    stand_in.wait_until_empty();
    assert!(stand_in.runs().iter().all(|run| run.stdin.is_empty()));
    assert_eq!(run(&mut session, 1, "hello")["verdict"], "success");
    session.close();
    stand_in.wait_until_empty();
}

#[test]
fn one_whose_tag_has_moved_is_given_back_and_the_call_runs_in_the_new_image() {
    let stand_in = StandIn::playing(programs());
    let mut session = parking(&stand_in, &[]);
    stand_in.wait_for_call("events");
    let other = format!("sha256:{}", "5".repeat(64));
    stand_in.play(programs().image("python:3.12-slim", json!({"Id": other})));
    let pulled = Das::docker(&stand_in).args(["pull", "python:3.12-slim"]).output();
    assert_eq!(pulled.code(), Some(0));
    wait_for_parked(&stand_in, 2);
    assert_eq!(run(&mut session, 1, "hello")["verdict"], "success");
    let runs = stand_in.runs();
    assert!(runs[0].stdin.is_empty(), "the first one was made from the old image");
    assert_eq!(times_run(&stand_in, "hello"), 1);
    session.close();
}

#[test]
fn an_engine_whose_events_cannot_be_followed_is_asked_at_each_claim() {
    let refused = Events::Answers(Answer::failure(1, "not supported"));
    let stand_in = StandIn::playing(programs().events(refused));
    let mut session = parking(&stand_in, &["--audit-log", "audit.jsonl"]);
    // The first calls may come before das knows; from then on each asks, and so does each start.
    let mut calls = 0;
    stand_in.eventually("a call that asks", || {
        calls += 1;
        let asked = stand_in.calls_of("image").len();
        assert_eq!(run(&mut session, calls, "hello")["verdict"], "success");
        wait_for_parked(&stand_in, 1 + calls as usize);
        (stand_in.calls_of("image").len() >= asked + 2).then_some(())
    });
    assert_eq!(audit(&stand_in).pop().unwrap()["warm"], true);
    session.close();
}

#[test]
fn one_that_the_engine_has_forgotten_is_judged_by_its_claim() {
    let stand_in = StandIn::playing(programs().events(Events::Empty));
    let mut session = parking(&stand_in, &["--timeout", "1"]);
    assert_eq!(run(&mut session, 1, "hold")["verdict"], "timeout");
    session.close();
    stand_in.wait_until_empty();
}

#[test]
fn a_daemon_that_lets_its_clients_go_is_a_miss() {
    let gone = Answer::failure(125, "error waiting for container: unexpected EOF");
    let restart = Scenario::program_that_never_reads().waits_for(Trigger::file("restart"));
    let stand_in = StandIn::playing(restart.client_exits(gone).times(1).or(programs()));
    let mut session = parking(&stand_in, &[]);
    let parked = stand_in.runs().remove(0);
    stand_in.trigger("restart");
    stand_in.eventually("the client's end", || is_gone(&stand_in, &parked).then_some(()));
    assert_eq!(run(&mut session, 1, "hello")["verdict"], "success");
    session.close();
    stand_in.wait_until_empty();
}

#[test]
fn an_engine_that_refuses_to_park_is_not_pestered() {
    let stand_in = StandIn::playing(
        Scenario::program().has_a_broken_runtime("no such runtime").times(1).or(programs()),
    );
    let mut session = start(&stand_in, &["--warm", "1"]);
    session.initialize("2025-11-25");
    let first = stand_in.wait_for_call("run");
    stand_in.eventually("the client's end", || is_gone(&stand_in, &first).then_some(()));
    assert_eq!(run(&mut session, 1, "hello")["verdict"], "success");
    // The failed one, the cold run, and, where the call came before the failure was noticed, the
    // one that was started in place of the one that it took.
    assert!((2..=3).contains(&stand_in.runs().len()), "{stand_in}");
    session.close();
}

#[test]
fn none_is_parked_where_the_policy_says_so() {
    let stand_in = StandIn::playing(programs());
    let mut session = start(&stand_in, &["--warm", "0"]);
    session.initialize("2025-11-25");
    session.ask(1, "tools/list", &json!({}));
    assert_eq!(run(&mut session, 2, "hello")["verdict"], "success");
    assert_eq!(session.close().stderr_text(), "");
    assert_eq!((stand_in.runs().len(), stand_in.calls_of("events").len()), (1, 0));
}

#[test]
fn the_owner_is_told_once_that_containers_are_parked_and_how_to_stop_it() {
    let stand_in = StandIn::playing(programs());
    let mut session = parking(&stand_in, &[]);
    run(&mut session, 1, "hello");
    let said = session.close().stderr_text();
    assert_eq!(
        said,
        "[sandbox] containers are kept ready for the next calls; `--warm 0` stops that\n"
    );
}

#[test]
fn they_are_gone_before_das_is_when_its_client_goes() {
    let stand_in = StandIn::playing(programs());
    let session = parking(&stand_in, &["--warm", "3"]);
    wait_for_parked(&stand_in, 3);
    assert_eq!(session.close().code(), Some(0));
    assert!(stand_in.containers_left().is_empty(), "das ended before its containers did");
    stand_in.wait_until_no_process_is_left();
}

#[test]
fn they_are_gone_before_das_is_when_a_signal_ends_it() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let stand_in = StandIn::playing(programs());
        let session = parking(&stand_in, &[]);
        session.running.send_signal(signal);
        assert_eq!(session.running.wait().signal(), Some(signal.as_raw()));
        assert!(stand_in.containers_left().is_empty(), "das ended before its containers did");
        stand_in.wait_until_no_process_is_left();
    }
}

#[test]
fn they_are_gone_soon_after_a_das_that_was_killed() {
    let stand_in = StandIn::playing(programs());
    let mut session = parking(&stand_in, &["--warm", "2"]);
    wait_for_parked(&stand_in, 2);
    session.call(1, "hold");
    stand_in.wait_for_mark("holding");
    session.running.send_signal_to_group(Signal::KILL);
    session.running.wait_for_exit();
    stand_in.wait_until_empty();
    stand_in.wait_until_no_process_is_left();
}
