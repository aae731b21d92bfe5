//! The limits of the policy, and what is said of a program that meets one.

use docker_agent_sandbox::outcome::VERDICTS;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Finished, Language, Real};

/// The object that `das run --json` printed.
#[track_caller]
pub(super) fn outcome(finished: &Finished) -> Value {
    let parsed = serde_json::from_slice(&finished.stdout);
    parsed.unwrap_or_else(|error| panic!("{error}: {finished:?}"))
}

/// Runs a program with more flags and gives what came of it, when its container is gone.
#[track_caller]
fn run(language: Language, code: &str, flags: &[&str]) -> (Value, i32) {
    let real = Real::new();
    let finished = real.run(language, code).arg("--json").args(flags.iter().copied()).output();
    let outcome = outcome(&finished);
    let id = outcome["run_id"].as_str().expect("a text");
    real.wait_until_gone(&format!("das-{id}"));
    (outcome, finished.code().expect("an exit code"))
}

#[test]
#[ignore = "needs Docker: fork bombs under a limit of processes"]
fn a_fork_bomb_is_contained_and_ends_at_its_deadline() {
    for language in Language::ALL {
        let flags = ["--pids", "24", "--timeout", "2", "--memory", "512"];
        let (outcome, code) = run(language, language.bombs(), &flags);
        assert_eq!((&outcome["verdict"], code), (&json!("timeout"), 124), "{outcome}");
    }
}

#[test]
#[ignore = "needs Docker: the number of processes that a program can start"]
fn a_program_starts_no_more_processes_than_its_limit() {
    for language in Language::ALL {
        let (outcome, _) = run(language, language.counts_its_processes(), &["--pids", "24"]);
        let printed = outcome["stdout"].as_str().expect("a text");
        let last = printed.lines().last().and_then(|line| line.parse::<u64>().ok());
        let started = last.unwrap_or_else(|| panic!("{outcome}"));
        // The program itself counts, and an interpreter has threads.
        assert!((1..24).contains(&started), "{language:?}: {outcome}");
        let hint = outcome["hint"].as_str().unwrap_or_default();
        assert!(outcome["exit_code"] == 0 || hint.contains("24 processes"), "{outcome}");
    }
}

#[test]
#[ignore = "needs Docker: programs that take all memory"]
fn a_memory_hog_is_out_of_memory() {
    for language in Language::ALL {
        let real = Real::new();
        let hint = "used more than 128 MiB of memory, files in /tmp included; \
                    work on less at a time, or allow more";
        real.run(language, language.takes_all_memory())
            .args(["--memory", "128"])
            .stderr(format!("[sandbox] out_of_memory in [TIME]\n[sandbox] hint: {hint}\n"))
            .status(137);
    }
}

#[test]
#[ignore = "needs Docker: files in /tmp count as memory and stop at their limit"]
fn tmp_is_as_large_as_the_policy_says_and_counts_as_memory() {
    let write = |mib: u32| format!("open('/tmp/x', 'wb').write(bytes({mib} << 20)); print('fits')");
    let (fits, _) = run(Language::Python, &write(7), &["--tmpfs", "8"]);
    assert_eq!(fits["stdout"], "fits\n");
    let (full, code) = run(Language::Python, &write(9), &["--tmpfs", "8"]);
    assert_eq!(
        (code, &full["hint"]),
        (1, &json!("/tmp is full (8 MiB); write less, or delete what is done with"))
    );
    let (memory, _) = run(Language::Python, &write(100), &["--tmpfs", "128", "--memory", "64"]);
    assert_eq!(memory["verdict"], "out_of_memory");
}

#[test]
#[ignore = "needs Docker: programs that never end"]
fn an_infinite_loop_ends_at_its_deadline_with_what_it_printed() {
    for language in Language::ALL {
        let code = language.prints("before") + language.never_ends();
        let (outcome, exit) = run(language, &code, &["--timeout", "4"]);
        let told = (&outcome["verdict"], &outcome["timed_out"], &outcome["exit_code"], exit);
        assert_eq!(told, (&json!("timeout"), &json!(true), &Value::Null, 124), "{outcome}");
        assert_eq!(outcome["stdout"], "before\n");
    }
}

#[test]
#[ignore = "needs Docker: endless output on both streams"]
fn a_flood_is_capped_on_both_streams_and_ends_at_its_deadline() {
    for language in Language::ALL {
        let flags = ["--timeout", "4", "--max-output", "2048"];
        let (outcome, _) = run(language, language.floods(), &flags);
        assert_eq!((&outcome["verdict"], &outcome["truncated"]), (&json!("timeout"), &json!(true)));
        for (stream, letter) in [("stdout", 'o'), ("stderr", 'e')] {
            let kept = outcome[stream].as_str().expect("a text");
            assert!(kept.len() < 2048 + 200 && kept.starts_with(letter), "{stream}: {kept}");
            let printed = outcome[format!("{stream}_bytes")].as_u64().expect("a number");
            assert!(printed > 65_536, "{language:?}: {printed} bytes of {stream}");
        }
    }
}

/// Those that Docker gives itself, those of signals, and their neighbours.
const CODES: [u8; 14] = [0, 1, 2, 3, 119, 124, 125, 126, 127, 128, 137, 139, 143, 255];

#[track_caller]
fn exit_codes_are_told_apart(language: Language) {
    for code in CODES {
        let (outcome, exit) = run(language, &language.exits(code), &[]);
        let verdict = if code == 0 { "success" } else { "error" };
        let told = (&outcome["verdict"], &outcome["exit_code"], exit);
        assert_eq!(told, (&json!(verdict), &json!(code), i32::from(code)), "{outcome}");
    }
}

#[test]
#[ignore = "needs Docker: exit codes of Python programs"]
fn exit_codes_of_python_are_told_apart() {
    exit_codes_are_told_apart(Language::Python);
}

#[test]
#[ignore = "needs Docker: exit codes of Node.js programs"]
fn exit_codes_of_node_are_told_apart() {
    exit_codes_are_told_apart(Language::Node);
}

#[test]
#[ignore = "needs Docker: exit codes of shell scripts"]
fn exit_codes_of_a_shell_are_told_apart() {
    exit_codes_are_told_apart(Language::Shell);
}

#[test]
#[ignore = "needs Docker: a syntax error in each language"]
fn a_syntax_error_is_the_programs_own() {
    for (language, code) in Language::ALL.into_iter().zip([1, 1, 2]) {
        let (outcome, exit) = run(language, "if (", &[]);
        assert_eq!((&outcome["verdict"], exit), (&json!("error"), code), "{outcome}");
    }
}

/// A policy file in which `python` is this command in the image of the shell.
fn with_command(real: &Real, name: &str, command: &[&str]) -> String {
    let row = json!({"image": Real::shell_image(), "command": command});
    real.write(name, &json!({"languages": {"python": row}}).to_string())
}

#[test]
#[ignore = "needs Docker: every verdict, with its exit code"]
fn every_verdict_comes_with_its_exit_code() {
    let real = Real::new();
    let missing = with_command(&real, "missing.json", &["no-such-interpreter", "-"]);
    let forbidden = with_command(&real, "forbidden.json", &["/etc", "-"]);
    let cases: [(&str, &str, &[&str], i32); 7] = [
        ("success", "print(1)", &[], 0),
        ("error", "raise SystemExit(3)", &[], 3),
        ("timeout", "while True: pass", &["--timeout", "1"], 124),
        ("out_of_memory", Language::Python.takes_all_memory(), &["--memory", "64"], 137),
        ("cannot_start", "", &["--policy", &missing], 127),
        ("cannot_start", "", &["--policy", &forbidden], 126),
        ("sandbox_error", "", &["--image", "das-test/no-such:1", "--pull", "never"], 125),
    ];
    let mut seen = vec!["cancelled"];
    for (verdict, code, flags, exit) in cases {
        let (outcome, found) = run_in(&real, code, flags);
        assert_eq!((&outcome["verdict"], found), (&json!(verdict), exit), "{outcome}");
        seen.push(verdict);
    }
    let running = real.das().args(["run", "--json", "-c", "while True: pass"]).spawn();
    real.wait_for_container_of(running.pid());
    running.send_signal(Signal::TERM);
    let finished = running.wait();
    assert_eq!(outcome(&finished)["verdict"], "cancelled");
    // The shell makes 143 of it, which is 128 + 15.
    assert_eq!(finished.signal(), Some(15));
    for (_, name, ..) in VERDICTS {
        assert!(seen.contains(&name), "no case for {name}");
    }
}

#[track_caller]
fn run_in(real: &Real, code: &str, flags: &[&str]) -> (Value, i32) {
    let command = real.run(Language::Python, code).arg("--json").args(flags.iter().copied());
    let finished = command.output();
    (outcome(&finished), finished.code().expect("an exit code"))
}
