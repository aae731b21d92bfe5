//! `das policy`: what holds, where it comes from, and what is refused.

use std::fs;

use docker_agent_sandbox::SandboxPolicy;
use docker_agent_sandbox::policy::{fields::FIELDS, json_schema};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::explain::any_policy::any_policy;
use crate::support::{Das, Finished, Place, StandIn};

fn policy<'a>(stand_in: &'a StandIn, args: &[&str]) -> Das<'a> {
    Das::new(stand_in).arg("policy").args(args.iter().copied())
}

fn file(stand_in: &StandIn, text: impl AsRef<[u8]>) {
    fs::write(stand_in.home().join("policy.json"), text).unwrap();
}

const FILE: [&str; 2] = ["--policy", "policy.json"];

#[track_caller]
fn printed(finished: &Finished) -> Value {
    assert_eq!((finished.stderr_text().as_str(), finished.code()), ("", Some(0)));
    serde_json::from_slice(&finished.stdout).expect("a policy")
}

#[test]
fn the_default_policy_has_the_documented_values() {
    let stand_in = StandIn::new();
    let documented = json!({
        "timeout_seconds": 10.0,
        "memory_mb": 256,
        "cpus": 0.5,
        "pids_limit": 64,
        "tmpfs_mb": 32,
        "nofile_limit": 256,
        "max_output_bytes": 65536,
        "max_code_bytes": 1_048_576,
        "network": false,
        "user": "65534:65534",
        "images": {"node": "node:22-slim", "python": "python:3.12-slim", "shell": "alpine:3.20"},
        "languages": {},
        "env": {},
        "runtime": null,
        "seccomp": "default",
        "engine": "auto",
        "work_dir": null,
        "pull": "missing",
        "warm": 1,
        "warm_idle_seconds": 300,
        "max_concurrent": 4,
    });
    let finished = policy(&stand_in, &[]).output();
    assert_eq!(printed(&finished), documented);
    let text = finished.stdout_text();
    let places: Vec<_> =
        FIELDS.iter().map(|field| text.find(&format!("\n  \"{}\": ", field.key))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    assert!(stand_in.calls().is_empty());
}

#[test]
fn a_policy_that_is_fed_back_changes_nothing() {
    let policies = any_policy(vec!["/srv/data".to_owned()], vec!["podman".to_owned()]);
    let mut runner = TestRunner::new(Config { cases: 64, ..Config::default() });
    let fed_back = |policy: SandboxPolicy| {
        let json = policy.to_json();
        let read = SandboxPolicy::from_json(&json);
        prop_assert_eq!(read.as_ref().ok(), Some(&policy));
        prop_assert_eq!(read.map(|read| read.to_json()).ok(), Some(json));
        Ok(())
    };
    runner.run(&policies, fed_back).unwrap();

    let stand_in = StandIn::new();
    let changed = ["--memory", "512", "--env", "A=b c", "--timeout", "0.25", "--engine", "podman"];
    let first = policy(&stand_in, &changed).output();
    file(&stand_in, &first.stdout);
    policy(&stand_in, &FILE).stdout(&first.stdout).status(0);
}

#[test]
fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
    let stand_in = StandIn::new();
    file(&stand_in, r#"{"memory_mb": 300, "cpus": 2, "env": {"A": "file", "B": "file"}}"#);
    let flags = ["--memory", "400", "--env", "A=flag"];
    let effective = printed(&policy(&stand_in, &FILE).args(flags).output());
    assert_eq!(effective["memory_mb"], 400);
    assert_eq!(effective["cpus"], 2.0);
    assert_eq!(effective["env"], json!({"A": "flag", "B": "file"}));
    assert_eq!(effective["pids_limit"], 64);
}

#[test]
fn das_policy_names_the_file_when_no_flag_does() {
    let stand_in = StandIn::new();
    file(&stand_in, r#"{"memory_mb": 300}"#);
    fs::write(stand_in.home().join("other.json"), r#"{"memory_mb": 700}"#).unwrap();
    let memory = |das: Das<'_>| printed(&das.output())["memory_mb"].clone();
    assert_eq!(memory(policy(&stand_in, &[]).env("DAS_POLICY", "policy.json")), 300);
    let flag = policy(&stand_in, &["--policy", "other.json"]).env("DAS_POLICY", "policy.json");
    assert_eq!(memory(flag), 700);
    assert_eq!(memory(policy(&stand_in, &[]).env("DAS_POLICY", "")), 256);
}

#[test]
fn every_flag_that_changes_the_policy_changes_its_own_key() {
    let stand_in = StandIn::new();
    let cases: [(&[&str], &str, Value); 14] = [
        (&["--timeout", "2.5"], "timeout_seconds", json!(2.5)),
        (&["--memory", "512"], "memory_mb", json!(512)),
        (&["--cpus", "1.5"], "cpus", json!(1.5)),
        (&["--pids", "100"], "pids_limit", json!(100)),
        (&["--tmpfs", "64"], "tmpfs_mb", json!(64)),
        (&["--nofile", "64"], "nofile_limit", json!(64)),
        (&["--max-output", "2048"], "max_output_bytes", json!(2048)),
        (&["--user", "1:2"], "user", json!("1:2")),
        (&["--env", "A=b=c"], "env", json!({"A": "b=c"})),
        (&["--allow-network"], "network", json!(true)),
        (&["--runtime", "runsc"], "runtime", json!("runsc")),
        (&["--engine", "/opt/docker"], "engine", json!("/opt/docker")),
        (&["--pull", "never"], "pull", json!("never")),
        (&["--memory", "512", "--memory", "600"], "memory_mb", json!(600)),
    ];
    let default = printed(&policy(&stand_in, &[]).output());
    for (flags, key, value) in cases {
        let mut expected = default.clone();
        expected[key] = value;
        assert_eq!(printed(&policy(&stand_in, flags).output()), expected, "{flags:?}");
    }
}

#[test]
fn the_schema_is_the_librarys_own() {
    let stand_in = StandIn::new();
    assert_eq!(printed(&policy(&stand_in, &["schema"]).output()), json_schema());
}

/// What is wrong with a policy file, and nothing has run.
#[track_caller]
fn refused(text: &str, cause: &str) {
    let stand_in = StandIn::new();
    file(&stand_in, text);
    let expected = format!(
        "error: the policy file `policy.json` is refused\n  caused by: {cause}\n\n\
         hint: `das policy schema` lists every key with its range\n"
    );
    policy(&stand_in, &FILE).stderr(&expected).status(2);
    Das::new(&stand_in).args(["run", "-c", "x"]).args(FILE).stderr(&expected).status(2);
    assert!(stand_in.calls().is_empty());
}

#[test]
fn a_key_that_no_policy_has_is_refused_with_the_nearest_that_it_has() {
    refused(
        r#"{"timeout_second": 3}"#,
        "unknown key `timeout_second`, did you mean `timeout_seconds`?",
    );
    refused(r#"{"colour": "red"}"#, "unknown key `colour`");
    refused(
        r#"{"work_dir": {"path": "/srv", "write": true}}"#,
        "unknown key `work_dir.write`, did you mean `writable`?",
    );
    refused(
        r#"{"languages": {"ruby": {"image": "ruby", "comand": ["ruby"]}}}"#,
        "unknown key `languages.ruby.comand`, did you mean `command`?",
    );
}

#[test]
fn a_value_of_the_wrong_type_or_out_of_range_is_refused_with_what_is_allowed() {
    refused(r#"{"memory_mb": 8}"#, "`memory_mb` must be a whole number from 16 to 1048576, not 8");
    refused(
        r#"{"memory_mb": "256"}"#,
        "`memory_mb` must be a whole number from 16 to 1048576, not \"256\"",
    );
    refused(r#"{"cpus": 0.01}"#, "`cpus` must be a number from 0.05 to 512, not 0.01");
    refused(
        r#"{"timeout_seconds": 1e9}"#,
        "`timeout_seconds` must be a number from 0.1 to 3600, not 1000000000.0",
    );
    refused(r#"{"network": 1}"#, "`network` must be true or false, not 1");
    refused(r#"{"pull": "daily"}"#, "`pull` must be one of never, missing, always, not \"daily\"");
    refused(
        r#"{"work_dir": "/srv"}"#,
        "`work_dir` must be null or an object such as {\"path\": \"/srv/data\", \"writable\": \
         false}, not \"/srv\"",
    );
}

#[test]
fn root_is_refused_as_user_and_as_group() {
    for user in ["0:0", "0:1000", "1000:0"] {
        refused(
            &json!({ "user": user }).to_string(),
            &format!(
                "`user`: \"{user}\" is not a user: uid 0 and gid 0 are root's and never granted"
            ),
        );
    }
    refused(
        r#"{"user": "root"}"#,
        "`user`: \"root\" is not a user: expected numbers, `UID:GID`, such as `65534:65534`",
    );
}

#[test]
fn what_could_be_a_flag_or_a_second_argument_is_refused() {
    let reference = "expected something like `python:3.12-slim` or \
                     `registry.example/team/python@sha256:...`";
    for image in ["--privileged", "-v/:/h", "a b", "a\nb", "", "Python"] {
        refused(
            &json!({ "images": { "python": image } }).to_string(),
            &format!("`images.python`: {image:?} is not an image reference: {reference}"),
        );
    }
    refused(
        r#"{"runtime": "--help"}"#,
        "`runtime`: \"--help\" is not a runtime's name: expected up to 64 letters, digits, `.`, \
         `_` or `-`, such as `runsc`",
    );
    refused(
        r#"{"env": {"A B": "c"}}"#,
        "`env.A B`: \"A B\" is not a variable's name: expected up to 256 letters, digits or `_`, \
         not beginning with a digit",
    );
    refused(
        r#"{"engine": "docker --debug"}"#,
        "`engine`: \"docker --debug\" is not an engine: expected auto, docker, podman, nerdctl or \
         an absolute path",
    );
}

#[test]
fn a_language_that_could_never_be_chosen_is_refused() {
    refused(
        r#"{"images": {"ruby": "ruby:3.3"}}"#,
        "`images.ruby`: not a built-in language; one of your own goes under `languages`, with its \
         command",
    );
    refused(r#"{"images": {"py": "python:3"}}"#, "`images.py`: another name of `python`");
}

#[test]
fn what_is_no_json_object_is_refused_with_the_place_of_the_fault() {
    refused("[]", "the policy is not a JSON object");
    refused(
        "{\n  \"cpus\": ,\n}",
        "the policy is not a JSON object\n  caused by: expected value at line 2 column 11",
    );
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_reason() {
    let stand_in = StandIn::new();
    policy(&stand_in, &["--policy", "none.json"])
        .stderr(
            "error: cannot read `none.json`\n  caused by: No such file or directory (os error 2)\n",
        )
        .status(2);
    file(&stand_in, b"\xff\xfe{}");
    policy(&stand_in, &FILE)
        .stderr(
            "error: cannot read `policy.json`\n  caused by: stream did not contain valid UTF-8\n",
        )
        .status(2);
    file(&stand_in, format!("{{}}{}", " ".repeat(1 << 20)));
    policy(&stand_in, &FILE)
        .stderr("error: cannot read `policy.json`\n  caused by: longer than 1 MiB\n")
        .status(2);
}

#[test]
fn a_wrong_flag_is_refused_as_the_key_would_be() {
    let stand_in = StandIn::new();
    policy(&stand_in, &["--memory", "8"])
        .stderr(
            "error: the policy is refused\n  caused by: `memory_mb` must be a whole number from 16 \
             to 1048576, not 8\n\nhint: `das policy schema` lists every key with its range\n",
        )
        .status(2);
    for (flags, words) in [
        (&["--user", "0:0"][..], "uid 0 and gid 0 are root's and never granted"),
        (&["--runtime", "a b"], "is not a runtime's name"),
        (&["--engine", "rkt"], "\"rkt\" is not an engine"),
        (&["--pull", "daily"], "`pull` must be one of never, missing, always"),
        (&["--env", "A"], "expected NAME=VALUE"),
        (&["--env", "1=x"], "is not a variable's name"),
        (&["--memory", "much"], "invalid digit"),
        (&["--privileged"], "unexpected argument '--privileged'"),
    ] {
        let finished = policy(&stand_in, flags).output();
        assert!(finished.stderr_text().contains(words), "{flags:?}: {}", finished.stderr_text());
        assert_eq!((finished.code(), finished.stdout_text().as_str()), (Some(2), ""), "{flags:?}");
    }
}

#[test]
fn an_image_without_a_language_is_the_default_languages() {
    let stand_in = StandIn::new();
    let mut expected = printed(&policy(&stand_in, &[]).output());
    expected["images"]["python"] = json!("mine:1");
    assert_eq!(printed(&policy(&stand_in, &["--image", "mine:1"]).output()), expected);
}
