//! The harness itself: what it writes down, what it refuses, and that nothing outlives a test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::{NAME, docker, run};
use crate::support::{Cli, Das, Place, Real, Scenario, StandIn, redact};

#[test]
fn das_is_run_in_a_place_of_its_own() {
    let stand_in = StandIn::new();
    let finished = Das::new(&stand_in).arg("--version").output();
    assert_eq!(finished.code(), Some(0));
    let environment = Cli::program(&stand_in, Path::new("/usr/bin/env")).output().stdout_text();
    let mut names: Vec<_> = environment.lines().filter_map(|line| line.split_once('=')).collect();
    names.sort_unstable();
    let path = format!("{}:/usr/bin:/bin", stand_in.dir().display());
    assert_eq!(names, [("HOME", stand_in.home().to_str().unwrap()), ("PATH", path.as_str())]);
}

#[test]
fn a_call_is_written_down_with_what_matters_of_its_environment() {
    let stand_in = StandIn::playing(Scenario::program());
    run(&stand_in)
        .env("DOCKER_HOST", "unix:///x")
        .env("https_proxy", "http://user:secret@proxy")
        .env("LANG", "C")
        .current_dir(stand_in.dir())
        .status(0);
    let call = &stand_in.runs()[0];
    assert_eq!(call.values("--label"), ["owner=me"]);
    assert_eq!(call.container(), NAME);
    let env: Vec<_> =
        call.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("DOCKER_HOST", "unix:///x"), ("https_proxy", "http://user:secret@proxy")]);
    assert_eq!(call.cwd, stand_in.dir().to_str().unwrap());
}

#[test]
fn a_call_is_written_down_with_its_processes() {
    let stand_in = StandIn::playing(Scenario::program_that_never_reads().runs_until_killed());
    let running = run(&stand_in).spawn();
    let call = stand_in.wait_for_call("run");
    assert_eq!(u32::try_from(call.pid).unwrap(), running.pid());
    assert_eq!(call.process_group, call.pid);
}

#[test]
fn what_is_not_played_fails_loudly() {
    let stand_in = StandIn::new();
    let cases: [(&[&str], &str); 5] = [
        (&["exec", NAME, "sh"], "unknown command"),
        (&["kill", "--bogus", NAME], "unknown flag `--bogus`"),
        (&["ps"], "`ps` without --format or --quiet"),
        (&["kill", "--signal", "TERM", NAME], "a signal other than KILL"),
        (&["run", "--name", NAME, "a:1"], "the scenario has no program for this run"),
    ];
    for (args, text) in cases {
        let finished = docker(&stand_in, args).output();
        assert_eq!(finished.code(), Some(64), "{args:?}");
        assert!(finished.stderr_text().contains(text), "{args:?}");
        assert!(stand_in.take_unplayed().contains(text), "{args:?}");
    }
}

#[test]
fn a_test_that_asked_for_what_is_not_played_fails() {
    let unnoticed = catch_unwind(|| {
        let stand_in = StandIn::new();
        docker(&stand_in, &["volume", "ls"]).output();
    });
    let text = unnoticed.expect_err("a failed test");
    let text = text.downcast_ref::<String>().expect("a text");
    assert!(text.contains("`docker volume ls`: unknown command"), "{text}");
}

#[test]
fn a_failed_comparison_tells_the_whole_story() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n").exits(3));
    let compare = || run(&stand_in).stdout("46\n").status(0);
    let text = catch_unwind(AssertUnwindSafe(compare)).expect_err("a difference");
    let text = text.downcast_ref::<String>().expect("a text");
    for part in [
        "bin/docker run --rm -i --name das-0123456789abcdef",
        "status: exit status: 3 (expected 0)",
        "stdout: \"45\\n\"\n  expected: \"46\\n\"",
        "stderr, as expected: \"\"",
        "containers left: []",
        "#1 docker run",
        "(exit 3)",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

#[test]
fn times_and_ids_are_redacted_and_nothing_else() {
    let cases = [
        ("timed out in 0.41s", "timed out in [TIME]"),
        ("in 41ms, in 3s.", "in [TIME], in [TIME]."),
        ("in 3 steps, begin 4s", "in 3 steps, begin [TIME]"),
        ("das-0a1b2c3d4e5f6789 and das-cache", "das-[ID] and das-cache"),
        ("das run -", "das run -"),
    ];
    for (text, redacted) in cases {
        assert_eq!(redact(text), redacted);
    }
}

#[test]
fn nothing_outlives_its_test() {
    let program = Scenario::program_that_never_reads().leaves_a_grandchild("never");
    let stand_in = StandIn::playing(program.prints("on\n").runs_until_killed());
    let elsewhere = Real::new();
    let flags = ["run", "--rm", "--name", NAME, "--pull", "never", "i:1"];
    let mut running = Cli::program(&elsewhere, &stand_in.path()).args(flags).spawn();
    running.wait_for_stdout("on\n");
    // Blocked in a read that never ends.
    let import = Cli::program(&elsewhere, &stand_in.path()).args(["import", "-", "i:1"]).spawn();
    stand_in.wait_for_call("import");
    drop(stand_in);
    assert!(!import.wait().status.success());
    // The client ends, by itself or by its guard; the end of the output is the grandchild's.
    assert!(!running.wait_for_exit().success());
    assert_eq!(running.wait().stdout_text(), "on\n");
}

#[test]
fn other_engines_have_their_own_name() {
    let stand_in = StandIn::playing(Scenario::nothing());
    let podman = stand_in.also_called("podman");
    Cli::program(&stand_in, &podman).args(["context", "show"]).stdout("default\n").status(0);
    assert_eq!(stand_in.calls()[0].argv, ["context", "show"]);
}
