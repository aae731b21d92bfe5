//! What reaches the engine's command line, and which profiles are refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::support::{Cli, Das, Place, Scenario, StandIn};

fn run<'a>(stand_in: &'a StandIn, args: &[&str]) -> Cli<'a> {
    Das::new(stand_in).args(["run", "-q", "-c", "pass"]).args(args.iter().copied())
}

/// The file that a run named, if it named one.
#[track_caller]
fn profile(stand_in: &StandIn) -> Option<PathBuf> {
    let runs = stand_in.runs();
    let options = runs.last().expect("a run").values("--security-opt");
    options.iter().find_map(|option| option.strip_prefix("seccomp=")).map(PathBuf::from)
}

#[test]
fn by_default_the_engine_chooses() {
    let stand_in = StandIn::playing(Scenario::program());
    run(&stand_in, &[]).status(0);
    run(&stand_in, &["--seccomp", "default"]).status(0);
    assert_eq!(profile(&stand_in), None);
}

#[test]
fn the_strict_profile_is_handed_over_in_a_private_file_and_made_again_when_it_is_gone() {
    let stand_in = StandIn::playing(Scenario::program());
    for _ in 0..2 {
        run(&stand_in, &["--seccomp", "strict"]).status(0);
        let path = profile(&stand_in).expect("a profile");
        assert!(path.starts_with(stand_in.home().join(".cache")), "{}", path.display());
        let text = fs::read_to_string(&path).expect("a file");
        assert_eq!(text, docker_agent_sandbox::seccomp::profile());
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(&path, "{}").expect("a writable file");
    }
}

#[test]
fn what_explain_prints_names_a_file_that_is_there() {
    let stand_in = StandIn::playing(Scenario::program());
    let explained = Das::new(&stand_in).args(["explain", "--seccomp", "strict"]).output();
    let text = explained.stdout_text();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("--security-opt seccomp="));
    let path = line.expect("a line").trim_end_matches(" \\");
    assert!(fs::read(path).is_ok_and(|text| !text.is_empty()), "{path}");
}

#[test]
fn without_a_home_the_file_is_in_the_directory_for_temporary_ones() {
    let stand_in = StandIn::playing(Scenario::program());
    let temporary = stand_in.home().join("temporary");
    fs::create_dir(&temporary).expect("a fresh directory");
    run(&stand_in, &["--seccomp", "strict"])
        .env("HOME", "/proc/nowhere")
        .env("TMPDIR", temporary.to_str().expect("a plain path"))
        .status(0);
    assert!(profile(&stand_in).expect("a profile").starts_with(&temporary));
}

#[test]
fn a_profile_of_the_owner_is_named_by_its_whole_path() {
    let stand_in = StandIn::playing(Scenario::program());
    let own = stand_in.home().join("own profile.json");
    fs::write(&own, r#"{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": []}"#).expect("a file");
    run(&stand_in, &["--seccomp", "own profile.json"]).status(0);
    let found = profile(&stand_in).expect("a profile");
    assert_eq!(fs::canonicalize(found).unwrap(), fs::canonicalize(own).unwrap());
}

#[test]
fn a_profile_that_allows_by_default_is_warned_about() {
    let stand_in = StandIn::playing(Scenario::program());
    let own = stand_in.home().join("own.json");
    fs::write(&own, r#"{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": []}"#).expect("a file");
    let own = own.to_str().expect("a plain path");
    let warning = format!("the seccomp profile `{own}` allows what it does not name");
    run(&stand_in, &["--seccomp", own]).stderr(format!("[sandbox] warning: {warning}\n")).status(0);
}

#[test]
fn what_is_no_profile_is_refused_before_anything_runs() {
    let stand_in = StandIn::playing(Scenario::nothing());
    let text = stand_in.home().join("text.json");
    fs::write(&text, "unconfined").expect("a file");
    for (said, reason) in [
        ("/nowhere/profile.json", "cannot read the seccomp profile `/nowhere/profile.json`"),
        (text.to_str().expect("a plain path"), "is not a seccomp profile: it is not JSON"),
        ("unconfined", "cannot read the seccomp profile"),
        ("", "is no seccomp profile: expected default, strict or an absolute path"),
    ] {
        let refused = run(&stand_in, &["--seccomp", said]).output();
        let told = refused.stderr_text();
        assert_eq!(refused.code(), Some(2), "{told}");
        assert!(told.starts_with("error: the policy is refused\n  caused by: "), "{told}");
        assert!(told.contains(reason), "{told}");
    }
    assert!(stand_in.calls().is_empty());
}
