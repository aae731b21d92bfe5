//! The examples do what they say.

use std::fs;
use std::path::Path;

use docker_agent_sandbox::SandboxPolicy;
use docker_agent_sandbox::plan::CheckedPolicy;
use serde_json::json;

use crate::support::{Cli, Language, Place as _, Real};

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name).display().to_string()
}

fn policy(name: &str) -> SandboxPolicy {
    let text = fs::read_to_string(example(name)).expect("an example");
    SandboxPolicy::from_json(&text).expect("a policy")
}

#[test]
fn the_example_policies_hold() {
    for name in ["strict-policy.json", "own-image/policy.json"] {
        CheckedPolicy::new(policy(name)).expect(name);
    }
}

/// So that nobody takes a policy for strict that grants more than the default one.
#[test]
fn the_strict_policy_is_stricter_than_the_default_in_every_number() {
    let (strict, default) = (policy("strict-policy.json"), SandboxPolicy::default());
    assert!(strict.timeout_seconds < default.timeout_seconds);
    assert!(strict.cpus < default.cpus);
    let numbers = |it: &SandboxPolicy| {
        let SandboxPolicy { memory_mb, pids_limit, tmpfs_mb, nofile_limit, .. } = *it;
        [memory_mb, pids_limit, tmpfs_mb, nofile_limit, it.max_output_bytes, it.max_code_bytes]
    };
    assert!(numbers(&strict).iter().zip(numbers(&default)).all(|(strict, it)| *strict < it));
}

#[test]
fn the_dockerfile_of_the_own_image_has_six_lines_and_a_user_that_is_not_root() {
    let text = fs::read_to_string(example("own-image/Dockerfile")).expect("an example");
    assert_eq!(text.lines().count(), 6);
    assert_eq!(text.lines().last(), Some("USER 65534:65534"));
}

#[test]
#[ignore = "needs Docker: attempts to break out, in three languages"]
fn every_attempt_to_break_out_is_blocked() {
    for (name, attempts) in
        [("escape_attempts.py", 28), ("escape_attempts.js", 19), ("escape_attempts.sh", 16)]
    {
        let real = Real::new();
        let finished = real.das().args(["run", &example(name), "--quiet"]).output();
        let text = finished.stdout_text();
        assert_eq!(finished.code(), Some(0), "{text}");
        let blocked = text.lines().filter(|line| line.starts_with("[BLOCKED ] ")).count();
        assert_eq!(blocked, attempts, "{text}");
        let summary = format!("\n{attempts} attempts, {attempts} blocked, 0 worked\n");
        assert!(text.ends_with(&summary), "{text}");
    }
}

/// With the walls left out the same attempts work, so that BLOCKED means something. The network
/// stays off.
#[test]
#[ignore = "needs Docker: attempts to break out of a container without walls"]
fn attempts_to_break_out_work_where_there_is_no_wall() {
    let open = ["run", "--rm", "-i", "--network", "none", "--pull", "never", "--user", "0:0"];
    let open = open.into_iter().chain(["--security-opt", "seccomp=unconfined", "--pid", "host"]);
    let open: Vec<&str> = open.chain(["--cgroupns", "host", "--entrypoint", ""]).collect();
    for (language, name, command, at_least) in [
        (Language::Python, "escape_attempts.py", &["python", "-"][..], 12),
        (Language::Node, "escape_attempts.js", &["node", "-"][..], 7),
        (Language::Shell, "escape_attempts.sh", &["sh", "-s"][..], 6),
    ] {
        let real = Real::new();
        let docker = real.docker().args(open.clone()).arg(language.image());
        let code = fs::read(example(name)).expect("an example");
        let finished = docker.args(command.iter().copied()).stdin(code).output();
        let text = finished.stdout_text();
        assert_eq!(finished.code(), Some(1), "{text}{}", finished.stderr_text());
        let worked = text.lines().filter(|line| line.starts_with("[OK      ] ")).count();
        assert!(worked >= at_least, "{worked} worked\n{text}");
    }
}

#[test]
#[ignore = "needs Docker: examples that run wild"]
fn the_wild_examples_are_tamed() {
    let real = Real::new();
    for (name, verdict, code) in [
        ("fork_bomb.py", "timeout", 124),
        ("infinite_loop.py", "timeout", 124),
        ("memory_hog.py", "out_of_memory", 137),
        ("output_flood.py", "success", 0),
    ] {
        let flags = if verdict == "timeout" { ["--timeout", "2"] } else { ["--timeout", "60"] };
        let finished = real.das().args(["run", "--json", &example(name)]).args(flags).output();
        let outcome: serde_json::Value = serde_json::from_slice(&finished.stdout).unwrap();
        assert_eq!(
            (&outcome["verdict"], finished.code()),
            (&json!(verdict), Some(code)),
            "{outcome}"
        );
        assert_eq!(outcome["truncated"], name == "output_flood.py", "{outcome}");
    }
}

#[test]
#[ignore = "needs Docker: an image of one's own"]
fn the_own_image_runs_with_its_policy() {
    let real = Real::new();
    let build = ["build", "--tag", "own-image:1", "--build-arg"];
    let base = format!("BASE={}", Real::python_image());
    let build = real.docker().args(build).args([base, example("own-image")]).output();
    assert_eq!(build.code(), Some(0), "{}", build.stderr_text());
    let code = "import os, sys, tides\nprint(tides.height(0), os.getuid(), sys.flags.isolated)";
    let run = ["run", "--quiet", "--policy", &example("own-image/policy.json"), "-"];
    let finished = real.das().args(run).stdin(code).output();
    real.docker().args(["rmi", "own-image:1"]).output();
    assert_eq!(finished.stdout_text(), "2.0 65534 1\n", "{}", finished.stderr_text());
}

#[test]
#[ignore = "needs Docker: the library's example"]
fn the_librarys_example_runs() {
    let program = Path::new(env!("CARGO_BIN_EXE_das")).with_file_name("examples").join("library");
    let real = Real::new();
    let finished = Cli::program(&real, &program).arg(real.policy()).output();
    assert_eq!(finished.stdout_text(), "success: 18446744073709551616\n", "{finished:?}");
    assert!(real.home().exists());
}
