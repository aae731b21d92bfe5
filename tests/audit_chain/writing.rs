//! What is written, by one process and by many.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use docker_agent_sandbox::audit::Verifier;
use serde_json::Value;

use super::{das, lines, log, record, stand_in, write};
use crate::support::Place as _;

#[test]
fn a_record_is_one_line_with_its_keys_in_order_and_the_links_last() {
    let stand_in = stand_in();
    record(&stand_in, "good");
    let line = &lines(&stand_in)[0];
    let value: Value = serde_json::from_str(line).unwrap();
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let place = |key: &str| line.find(&format!("\"{key}\":")).unwrap();
    keys.sort_by_key(|key| place(key));
    let expected = "timestamp language image code_sha256 exit_code verdict duration_seconds \
                    timed_out truncated network memory_mb cpus pids_limit tmpfs_mb nofile_limit \
                    timeout_seconds max_output_bytes user work_dir stdout_bytes stderr_bytes \
                    run_id runtime engine seq prev_sha256";
    assert_eq!(keys.join(" "), expected);
    assert_eq!((&value["seq"], &value["prev_sha256"]), (&1.into(), &"0".repeat(64).into()));
}

#[test]
fn sixteen_processes_at_once_make_one_chain() {
    let stand_in = stand_in();
    let run = ["run", "-q", "--audit-log", "log", "-c", "good"];
    let calls: Vec<_> = (0..16).map(|_| das(&stand_in, &run)).collect();
    let running: Vec<_> = calls.iter().map(|call| call.spawn()).collect();
    for running in running {
        let finished = running.wait();
        assert_eq!((finished.code(), finished.stderr_text()), (Some(0), String::new()));
    }
    let findings = Verifier::default().read(File::open(log(&stand_in)).unwrap()).unwrap();
    assert_eq!((findings.lines, findings.is_whole()), (16, true), "{findings:?}");
    assert_eq!(findings.torn, [0; 0]);
}

#[test]
fn a_log_is_its_owners_alone_and_the_rights_of_an_older_one_stay() {
    let stand_in = stand_in();
    record(&stand_in, "good");
    let mode = || fs::metadata(log(&stand_in)).unwrap().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    fs::set_permissions(log(&stand_in), Permissions::from_mode(0o640)).unwrap();
    record(&stand_in, "good");
    assert_eq!(mode(), 0o640);
}

#[test]
fn a_torn_line_is_kept_and_the_next_record_follows_it() {
    let stand_in = stand_in();
    record(&stand_in, "good");
    let mut bytes = fs::read(log(&stand_in)).unwrap();
    bytes.extend_from_slice(b"{\"timestamp\":\"20");
    fs::write(log(&stand_in), &bytes).unwrap();
    record(&stand_in, "fail");
    let lines = lines(&stand_in);
    assert_eq!((lines.len(), lines[1].as_str()), (3, "{\"timestamp\":\"20"));
    assert!(lines[2].contains("\"seq\":3,"), "{}", lines[2]);
    let verified = das(&stand_in, &["audit", "verify", "log"]).output();
    assert_eq!(verified.code(), Some(0));
    let said = verified.stdout_text();
    assert!(said.starts_with("log: line 2: no record; the next one counts it\n"), "{said}");
}

#[test]
fn a_run_is_refused_where_the_log_is_something_else() {
    let stand_in = stand_in();
    write(&stand_in, &vec!["not a record".to_owned(); 20_000]);
    let before = fs::read(log(&stand_in)).unwrap();
    das(&stand_in, &["run", "--audit-log", "log", "-c", "good"])
        .stderr(
            "error: nothing was run\n  \
             caused by: `log` is not an audit log: it holds something else\n\n\
             hint: a run that cannot be recorded is not started; mend the log, or run without \
             --audit-log\n",
        )
        .status(125);
    assert!(stand_in.runs().is_empty());
    assert_eq!(fs::read(log(&stand_in)).unwrap(), before);
}

#[test]
fn a_renamed_log_is_continued_in_a_new_file_and_both_are_whole() {
    let stand_in = stand_in();
    record(&stand_in, "good");
    fs::rename(log(&stand_in), stand_in.home().join("log.1")).unwrap();
    record(&stand_in, "fail");
    record(&stand_in, "fail");
    let verified = das(&stand_in, &["audit", "verify", "log.1", "log"]).output();
    assert_eq!(verified.code(), Some(0));
    let said = verified.stdout_text();
    assert!(said.contains("log.1: whole, 1 line\n") && said.contains("log: whole, 2 lines\n"));
}

#[test]
fn a_writer_that_waits_for_another_gets_its_turn() {
    let stand_in = stand_in();
    record(&stand_in, "good");
    let held = File::open(log(&stand_in)).unwrap();
    held.lock().unwrap();
    let call = das(&stand_in, &["run", "-q", "--audit-log", "log", "-c", "good"]);
    let mut running = call.spawn();
    running.close_stdin();
    // Whatever it has come to by now, it goes on.
    assert_eq!(stand_in.runs().len(), 1);
    held.unlock().unwrap();
    assert_eq!(running.wait().code(), Some(0));
    assert_eq!(lines(&stand_in).len(), 2);
}
