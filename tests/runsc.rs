//! gVisor, under which programs have a kernel of their own: on a daemon that has it registered, and
//! on one that has not.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Finished, Language, Place as _, Real, SecondDaemon};

const RUNSC: &str = "/usr/bin/runsc";

/// A daemon under which gVisor is registered.
#[track_caller]
pub(crate) fn daemon() -> SecondDaemon {
    assert!(
        Path::new(RUNSC).exists(),
        "`{RUNSC}` is missing: `apt-get install runsc`, or run these tests elsewhere"
    );
    let runsc = |more: &[&str]| {
        let args = [&["--network=none"], more].concat();
        json!({"path": RUNSC, "runtimeArgs": args})
    };
    SecondDaemon::configured(&json!({"runtimes": {
        "runsc": runsc(&[]),
        "runsc-filtered": runsc(&["--oci-seccomp"]),
        "runsc-without-limits": runsc(&["--ignore-cgroups"]),
    }}))
}

/// Verifies walls, all of them where none is named, and gives the state of each.
#[track_caller]
fn walls(daemon: &SecondDaemon, runtime: &str, language: Language, only: &[&str]) -> Value {
    let only = only.iter().flat_map(|wall| ["--only", wall]);
    // With fewer, gVisor's own threads leave too little room for the probes.
    let mut policy = vec!["--runtime", runtime, "--pids", "128"];
    // So little that a busy machine gives more, where nothing keeps it from that.
    if runtime == "runsc-without-limits" {
        policy.extend(["--cpus", "0.05"]);
    }
    let verify = daemon.das().args(["verify", "--json", "-l", language.name()]).args(policy);
    let report = outcome(&verify.args(only).output(), daemon);
    let walls = report["walls"].as_array().expect("a list").iter();
    walls.map(|it| (it["wall"].as_str().expect("a name").to_owned(), it["state"].clone())).collect()
}

/// Runs a shell script under gVisor and gives what came of it, when its container is gone.
#[track_caller]
fn run(daemon: &SecondDaemon, code: &str, flags: &[&str]) -> (Value, Option<i32>) {
    let run = daemon.das().args(["run", "-l", "shell", "--json", "--runtime", "runsc", "-"]);
    let finished = run.args(flags.iter().copied()).stdin(code).output();
    let outcome = outcome(&finished, daemon);
    daemon.wait_until_empty();
    (outcome, finished.code())
}

#[track_caller]
fn outcome(finished: &Finished, daemon: &SecondDaemon) -> Value {
    let parsed = serde_json::from_slice(&finished.stdout);
    parsed.unwrap_or_else(|error| panic!("{error}: {finished:?}\n{}", daemon.story()))
}

#[test]
#[ignore = "needs Docker: a second daemon with gVisor"]
fn programs_run_under_gvisor_with_the_same_verdicts() {
    let daemon = daemon();
    // gVisor's own kernel, not this machine's.
    let (outcome, code) = run(&daemon, "read -r version </proc/version; echo \"$version\"", &[]);
    assert_eq!((&outcome["verdict"], code), (&json!("success"), Some(0)), "{outcome}");
    let version = outcome["stdout"].as_str().expect("a text");
    assert!(version.starts_with("Linux version 4.4.0"), "{version}");

    for exit in [1, 3, 125, 126, 127, 137] {
        let (outcome, code) = run(&daemon, &format!("exit {exit}"), &[]);
        assert_eq!((&outcome["verdict"], code), (&json!("error"), Some(exit)), "{outcome}");
    }

    let (outcome, code) = run(&daemon, Language::Shell.never_ends(), &["--timeout", "2"]);
    assert_eq!((&outcome["verdict"], code), (&json!("timeout"), Some(124)), "{outcome}");

    let (outcome, code) = run(&daemon, Language::Shell.takes_all_memory(), &["--memory", "64"]);
    assert_eq!((&outcome["verdict"], code), (&json!("out_of_memory"), Some(137)), "{outcome}");

    let (outcome, code) = run(&daemon, "echo out; echo err >&2", &["--seccomp", "strict"]);
    assert_eq!((&outcome["stdout"], code), (&json!("out\n"), Some(0)), "{outcome}");
    assert_eq!(outcome["stderr"], "err\n", "{outcome}");
}

#[test]
#[ignore = "needs Docker: gVisor without limits, and with a filter of system calls"]
fn walls_that_gvisor_does_not_build_are_noticed_and_its_filter_is_seen() {
    let daemon = daemon();
    daemon.load(&Language::Python.image());
    let found = |language, only: &[&str]| walls(&daemon, "runsc-without-limits", language, only);
    let limits = ["memory", "cpu", "pids"];
    let broken = json!({"memory": "BROKEN", "cpu": "BROKEN", "pids": "BROKEN"});
    assert_eq!(found(Language::Python, &limits), broken);
    let broken = json!({"memory": "BROKEN", "pids": "BROKEN"});
    assert_eq!(found(Language::Shell, &["memory", "pids"]), broken);
    let verify = ["verify", "--runtime", "runsc-filtered", "--only", "syscalls"];
    let told = daemon.das().args(verify).output().stdout_text();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let seen = "a kernel of its own and a seccomp filter; refused: mount, unshare, keyctl";
    assert!(told.contains(seen), "{told}");
}

#[test]
#[ignore = "needs Docker: every probe under gVisor in every language"]
fn no_wall_is_broken_under_gvisor_in_any_language() {
    let daemon = daemon();
    for language in Language::ALL {
        daemon.load(&language.image());
        let mut found = walls(&daemon, "runsc", language, &[]);
        let found = found.as_object_mut().expect("states");
        assert_eq!(found.len(), 18, "{found:?}");
        // What this kernel shows in no file: an image without `setpriv` cannot ask for the one, and
        // the other takes a machine that has time to give, and a fine clock.
        let unseen: &[&str] = match language {
            Language::Python => &["cpu"],
            Language::Node | Language::Shell => &["new-privileges", "cpu"],
        };
        for wall in unseen {
            let state = found.remove(*wall).expect("a state");
            assert!(state == "HELD" || state == "UNKNOWN", "{wall}: {state}");
        }
        let other: Vec<_> = found.iter().filter(|(_, state)| *state != "HELD").collect();
        assert!(other.is_empty(), "{}: {other:?}", language.name());
    }
}

#[test]
#[ignore = "needs Docker: what the doctor says of gVisor on a second daemon"]
fn the_doctor_finds_gvisor_registered_and_tells_what_it_cannot_see_in_it() {
    let daemon = daemon();
    let told = daemon.das().args(["doctor", "--json", "--runtime", "runsc"]).output();
    let report: Value = outcome(&told, &daemon);
    assert_eq!((&report["usable"], told.code()), (&json!(true), Some(0)), "{report}");
    let findings = report["findings"].as_array().expect("findings");
    let of = |check: &str| findings.iter().find(|it| it["check"] == check).expect("a finding");
    assert_eq!(of("runtimes")["state"], "ok", "{report}");
    assert!(of("runtimes")["found"].as_str().is_some_and(|it| it.contains("runsc")), "{report}");
    assert_eq!(of("run")["state"], "ok", "{report}");
}

#[test]
#[ignore = "needs Docker: a runtime that the machine's own daemon does not have"]
fn without_gvisor_nothing_runs_and_das_says_how_to_register_it() {
    let real = Real::new();
    let code = Language::Shell.prints("ran");
    let finished = real.run(Language::Shell, code).args(["--runtime", "das-test-runsc"]).output();
    assert_eq!((finished.code(), finished.stdout_text().as_str()), (Some(125), ""));
    let told = finished.stderr_text();
    for part in
        ["does not have the runtime", "`runtimes`", "/etc/docker/daemon.json", "never falls back"]
    {
        assert!(told.contains(part), "{told}");
    }
}
