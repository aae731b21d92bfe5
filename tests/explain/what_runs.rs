//! What is printed and what the engine's client gets, compared through the program itself.

use std::fs;

use docker_agent_sandbox::cli;
use docker_agent_sandbox::policy::fields::FIELDS;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::any_policy::any_policy;
use super::{comparable, explained};
use crate::support::{Das, Place, Scenario, StandIn};

/// Two directories that may be mounted.
fn work_dirs(stand_in: &StandIn) -> Vec<String> {
    let dirs = ["data", "my data"].map(|name| stand_in.home().join(name));
    dirs.iter()
        .map(|dir| {
            fs::create_dir_all(dir).expect("a writable home");
            dir.to_str().expect("a temporary directory with a plain name").to_owned()
        })
        .collect()
}

#[test]
fn the_explained_command_is_the_one_that_runs_for_every_policy() {
    let stand_in = StandIn::playing(Scenario::program());
    let file = stand_in.home().join("policy.json");
    let engines = ["auto", "docker", stand_in.path().to_str().unwrap()].map(str::to_owned).to_vec();
    let policies = any_policy(work_dirs(&stand_in), engines);
    let mut runner = TestRunner::new(Config { cases: 24, ..Config::default() });
    let checked = runner.run(&(policies, any::<prop::sample::Index>()), |(policy, index)| {
        let language = (*index.get(&policy.offered_languages())).to_owned();
        fs::write(&file, policy.to_json()).unwrap();
        let policy = ["--policy", file.to_str().unwrap(), "-l", &language];
        let before = stand_in.runs().len();
        let run = Das::new(&stand_in).args(["run", "-c", "x"]).args(policy).output();
        let runs = stand_in.runs();
        prop_assert_eq!(runs.len(), before + 1, "{}", run.stderr_text());
        let ran = &runs[before];
        let explained = explained(&stand_in, &policy);
        prop_assert_eq!(comparable(&explained[1..]), comparable(&ran.argv));
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn every_key_of_the_policy_changes_the_command_or_is_das_own_to_enforce() {
    let stand_in = StandIn::new();
    let dir = work_dirs(&stand_in).remove(0);
    let engine = stand_in.path();
    let others = json!({
        "timeout_seconds": 11,
        "memory_mb": 257,
        "cpus": 0.75,
        "pids_limit": 65,
        "tmpfs_mb": 33,
        "nofile_limit": 257,
        "max_output_bytes": 65537,
        "max_code_bytes": 1000,
        "network": true,
        "user": "1000:1000",
        "images": {"python": "python:3.13"},
        "languages": {"python": {"image": "python:3.12-slim", "command": ["python3", "-"]}},
        "env": {"LANG": "C.UTF-8"},
        "runtime": "runsc",
        "seccomp": "strict",
        "engine": engine,
        "work_dir": {"path": dir},
        "pull": "never",
        "warm": 2,
        "warm_idle_seconds": 301,
        "max_concurrent": 5,
    });
    let das_own = [
        "timeout_seconds",
        "max_output_bytes",
        "max_code_bytes",
        "pull",
        "warm",
        "warm_idle_seconds",
        "max_concurrent",
    ];
    let default = comparable(explained(&stand_in, &[]));
    let file = stand_in.home().join("policy.json");
    for field in FIELDS {
        let key = field.key;
        let other = others.get(key).unwrap_or_else(|| panic!("no other value for `{key}`"));
        fs::write(&file, json!({ key: other }).to_string()).unwrap();
        let changed = comparable(explained(&stand_in, &["--policy", file.to_str().unwrap()]));
        assert_eq!(changed == default, das_own.contains(&key), "{key}: {other}\n{changed:?}");
    }
}

#[test]
fn the_owners_of_a_run_and_of_an_explanation_differ() {
    let stand_in = StandIn::playing(Scenario::program());
    Das::new(&stand_in).args(["run", "-c", "x", "--quiet"]).status(0);
    let run = &stand_in.runs()[0];
    let owner = |labels: &[&str]| labels[1].split_once('=').unwrap().1.to_owned();
    assert_ne!(owner(&run.values("--label")), "nobody");
    let explained = explained(&stand_in, &[]);
    assert!(explained.contains(&"docker-agent-sandbox.owner=nobody".to_owned()));
}

#[test]
fn explain_takes_every_flag_that_changes_what_runs() {
    let command = cli::command();
    let flags = |name: &str| -> Vec<String> {
        let subcommand = command.find_subcommand(name).expect("a subcommand");
        subcommand.get_arguments().map(|arg| arg.get_id().to_string()).collect()
    };
    let only_of_run = ["files", "code", "jobs", "junit", "quiet", "audit_log"];
    let expected: Vec<String> =
        flags("run").into_iter().filter(|flag| !only_of_run.contains(&flag.as_str())).collect();
    let mut found = flags("explain");
    assert!(expected.iter().all(|flag| found.contains(flag)), "{expected:?}\n{found:?}");
    let only_of_explain = ["why", "diff"];
    found.retain(|flag| !expected.contains(flag) && !only_of_explain.contains(&flag.as_str()));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_flag_changes_the_command_as_its_policy_key_does() {
    let stand_in = StandIn::new();
    let dir = work_dirs(&stand_in).remove(0);
    let file = stand_in.home().join("policy.json");
    let cases: [(&[&str], Value); 13] = [
        (&["--memory", "512"], json!({"memory_mb": 512})),
        (&["--cpus", "1.5"], json!({"cpus": 1.5})),
        (&["--pids", "100"], json!({"pids_limit": 100})),
        (&["--tmpfs", "64"], json!({"tmpfs_mb": 64})),
        (&["--nofile", "64"], json!({"nofile_limit": 64})),
        (&["--user", "1:2"], json!({"user": "1:2"})),
        (&["--env", "A=b c", "--env", "B="], json!({"env": {"A": "b c", "B": ""}})),
        (&["--allow-network"], json!({"network": true})),
        (&["--runtime", "runsc"], json!({"runtime": "runsc"})),
        (&["--seccomp", "strict"], json!({"seccomp": "strict"})),
        (&["--image", "mine:1"], json!({"images": {"python": "mine:1"}})),
        (&["--work-dir", "data"], json!({"work_dir": {"path": dir}})),
        (&["--work-dir", "data:rw"], json!({"work_dir": {"path": dir, "writable": true}})),
    ];
    let default = comparable(explained(&stand_in, &[]));
    for (flags, keys) in cases {
        fs::write(&file, keys.to_string()).unwrap();
        let by_file = comparable(explained(&stand_in, &["--policy", file.to_str().unwrap()]));
        assert_eq!(comparable(explained(&stand_in, flags)), by_file, "{flags:?}");
        assert_ne!(by_file, default, "{flags:?}");
    }
}
