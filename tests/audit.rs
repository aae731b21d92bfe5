//! `--audit-log`: every run leaves one whole line, or does not happen.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, mknodat};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Cli, Daemon, Das, Place, Scenario, StandIn};

fn run(stand_in: &StandIn) -> Das<'_> {
    Das::new(stand_in).args(["run", "-q", "-c", "pass", "--audit-log", "audit.jsonl"])
}

fn log(stand_in: &StandIn) -> PathBuf {
    stand_in.home().join("audit.jsonl")
}

/// The lines of the log, each of them whole.
#[track_caller]
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("an audit log");
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn a_line_has_every_key_in_its_documented_order() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n").exits(3));
    run(&stand_in).stdout("45\n").status(3);
    let text = fs::read_to_string(log(&stand_in)).unwrap();
    let line = lines(&log(&stand_in)).remove(0);
    let id = stand_in.runs()[0].container().trim_start_matches("das-").to_owned();
    let expected = format!(
        "{{\"timestamp\":{},\"language\":\"python\",\"image\":\"python:3.12-slim\",\
         \"code_sha256\":\"d74ff0ee8da3b9806b18c877dbf29bbde50b5bd8e4dad7a3a725000feb82e8f1\",\
         \"exit_code\":3,\"verdict\":\"error\",\"duration_seconds\":{},\"timed_out\":false,\
         \"truncated\":false,\"network\":false,\"memory_mb\":256,\"cpus\":0.5,",
        line["timestamp"], line["duration_seconds"]
    );
    assert!(text.starts_with(&expected), "{text}\n{expected}");
    assert_eq!(line["run_id"], id);
    assert_eq!((&line["engine"], &line["runtime"]), (&"docker".into(), &Value::Null));
    let timestamp: jiff::Timestamp = line["timestamp"].as_str().unwrap().parse().unwrap();
    let age = jiff::Timestamp::now().duration_since(timestamp);
    assert!(age.as_secs().abs() < 600, "{timestamp}");
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn every_verdict_is_recorded_as_it_was_told() {
    let endless = || Scenario::program().runs_until_killed();
    for (scenario, verdict, code) in [
        (Scenario::program(), "success", 0),
        (endless(), "timeout", 124),
        (Scenario::program().runs_out_of_memory(), "out_of_memory", 137),
        (Scenario::program().interpreter_is_missing(), "cannot_start", 127),
        (Scenario::program().daemon(Daemon::Down), "sandbox_error", 125),
    ] {
        let stand_in = StandIn::playing(scenario);
        assert_eq!(run(&stand_in).args(["--timeout", "0.3"]).output().code(), Some(code));
        let line = lines(&log(&stand_in)).remove(0);
        assert_eq!(
            (&line["verdict"], &line["timed_out"]),
            (&verdict.into(), &(code == 124).into())
        );
    }
    let stand_in = StandIn::playing(endless());
    let running = run(&stand_in).spawn();
    let name = stand_in.wait_for_call("run").container().to_owned();
    stand_in.wait_for_container(&name, "running");
    running.send_signal(Signal::TERM);
    assert_eq!(running.wait().signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(lines(&log(&stand_in))[0]["verdict"], "cancelled");
}

#[test]
fn neither_the_program_nor_its_output_is_in_it() {
    let program = Scenario::program().prints("a-printed-secret").prints_to_stderr("another-one");
    let stand_in = StandIn::playing(program);
    let das = Das::new(&stand_in).args(["run", "-q", "-", "--audit-log", "audit.jsonl"]);
    das.args(["--env", "TOKEN=a-granted-secret"]).stdin("the-code-itself").output();
    let text = fs::read_to_string(log(&stand_in)).unwrap();
    for secret in ["secret", "another-one", "the-code-itself"] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn it_is_its_owners_alone_and_an_older_one_is_only_added_to() {
    let stand_in = StandIn::playing(Scenario::program());
    run(&stand_in).status(0);
    assert_eq!(fs::metadata(log(&stand_in)).unwrap().mode() & 0o777, 0o600);
    run(&stand_in).status(0);
    assert_eq!(lines(&log(&stand_in)).len(), 2);
}

#[test]
fn a_variable_names_it_when_no_flag_does() {
    let stand_in = StandIn::playing(Scenario::program());
    let das = || Das::new(&stand_in).args(["run", "-q", "-c", "pass"]);
    das().env("DAS_AUDIT_LOG", "audit.jsonl").status(0);
    assert_eq!(lines(&log(&stand_in)).len(), 1);
    das().env("DAS_AUDIT_LOG", "").status(0);
    run(&stand_in).env("DAS_AUDIT_LOG", "other.jsonl").status(0);
    assert_eq!(lines(&log(&stand_in)).len(), 2);
    assert!(!stand_in.home().join("other.jsonl").exists());
}

#[test]
fn a_log_that_was_rotated_away_is_begun_anew() {
    let stand_in = StandIn::playing(Scenario::program());
    run(&stand_in).status(0);
    let rotated = stand_in.home().join("audit.jsonl.1");
    fs::rename(log(&stand_in), &rotated).unwrap();
    run(&stand_in).status(0);
    assert_eq!((lines(&log(&stand_in)).len(), lines(&rotated).len()), (1, 1));
}

#[test]
fn sixteen_runs_at_once_write_sixteen_whole_lines() {
    let stand_in = StandIn::playing(Scenario::program());
    let runs: Vec<_> = (0..16).map(|_| run(&stand_in).spawn()).collect();
    for running in runs {
        assert_eq!(running.wait().code(), Some(0));
    }
    let mut ids: Vec<String> =
        lines(&log(&stand_in)).iter().map(|line| line["run_id"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 16);
}

#[test]
fn what_is_refused_before_it_runs_is_not_recorded() {
    let stand_in = StandIn::playing(Scenario::program());
    let nul = Das::new(&stand_in).args(["run", "-", "--audit-log", "audit.jsonl"]).stdin("\0");
    assert_eq!(nul.output().code(), Some(2));
    assert!(!log(&stand_in).exists());
}

/// Nothing runs, and das says why.
#[track_caller]
fn nothing_runs(stand_in: &StandIn, cause: &str) {
    let hint = "a run that cannot be recorded is not started; mend the log, or run without \
                --audit-log";
    run(stand_in)
        .stderr(format!("error: nothing was run\n  caused by: {cause}\n\nhint: {hint}\n"))
        .status(125);
    assert!(stand_in.calls().is_empty());
}

#[test]
fn a_symbolic_link_is_not_followed() {
    let stand_in = StandIn::new();
    let target = stand_in.home().join("target");
    symlink(&target, log(&stand_in)).unwrap();
    nothing_runs(
        &stand_in,
        "cannot open the audit log `audit.jsonl`\n  caused by: Too many levels of symbolic links \
         (os error 40)",
    );
    assert!(!target.exists());
}

#[test]
fn what_cannot_be_written_to_is_refused() {
    let stand_in = StandIn::new();
    fs::create_dir(log(&stand_in)).unwrap();
    nothing_runs(
        &stand_in,
        "cannot open the audit log `audit.jsonl`\n  caused by: Is a directory (os error 21)",
    );
    fs::remove_dir(log(&stand_in)).unwrap();
    let kind = rustix::fs::FileType::Fifo;
    mknodat(rustix::fs::CWD, log(&stand_in), kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
    nothing_runs(&stand_in, "the audit log `audit.jsonl` is not a regular file");
}

#[test]
fn a_directory_that_is_not_there_and_a_device_are_refused() {
    let stand_in = StandIn::new();
    for (path, cause) in [
        (
            "none/audit.jsonl",
            "cannot open the audit log `none/audit.jsonl`\n  caused by: No such file or directory \
             (os error 2)",
        ),
        ("/dev/null", "the audit log `/dev/null` is not a regular file"),
    ] {
        let finished = Das::new(&stand_in).args(["run", "-c", "x", "--audit-log", path]).output();
        let start = format!("error: nothing was run\n  caused by: {cause}\n");
        assert!(finished.stderr_text().starts_with(&start), "{}", finished.stderr_text());
        assert_eq!(finished.code(), Some(125));
    }
    assert!(stand_in.calls().is_empty());
}

#[test]
fn a_log_that_somebody_keeps_locked_does_not_keep_das() {
    let stand_in = StandIn::new();
    let held = fs::File::create(log(&stand_in)).unwrap();
    held.lock().unwrap();
    nothing_runs(
        &stand_in,
        "cannot write the audit log `audit.jsonl`\n  caused by: another process keeps it locked",
    );
}

#[test]
fn a_run_whose_line_was_lost_is_no_success() {
    // The log is longer than a file may become, which shows only when it is written.
    let stand_in = StandIn::playing(Scenario::program().prints("45\n"));
    let last = format!("{{\"seq\":9,\"prev_sha256\":\"{}\"}}\n", "0".repeat(64));
    fs::write(log(&stand_in), ["\n".repeat(3 << 20), last].concat()).unwrap();
    let script = "trap '' XFSZ; ulimit -f 4096; exec \"$0\" run -c pass --audit-log audit.jsonl";
    let limited = Cli::program(&stand_in, Path::new("/bin/sh"));
    limited
        .args(["-c", script, env!("CARGO_BIN_EXE_das")])
        .stdout("45\n")
        .stderr(
            "error: the program ran, and its run is not recorded\n  caused by: cannot write the \
             audit log `audit.jsonl`\n  caused by: File too large (os error 27)\n\nhint: mend the \
             log before the next run\n",
        )
        .status(125);
}
