//! `das audit verify`: what it finds, how it says so, what it exits with.

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use super::{das, lines, log, record, stand_in, write};
use crate::support::{Place as _, StandIn};

/// Four records.
fn recorded() -> StandIn {
    let stand_in = stand_in();
    for code in ["good 1", "good 2", "fail 3", "good 4"] {
        record(&stand_in, code);
    }
    stand_in
}

#[track_caller]
fn faults(stand_in: &StandIn) -> Vec<String> {
    let finished = das(stand_in, &["audit", "verify", "log"]).output();
    let said = finished.stdout_text();
    let faults: Vec<String> = said
        .lines()
        .filter_map(|line| line.strip_prefix("log: line "))
        .map(str::to_owned)
        .collect();
    assert_eq!(finished.code(), Some(1), "{said}");
    assert!(said.contains("log: broken, "), "{said}");
    faults
}

#[test]
fn a_whole_log_is_whole() {
    let stand_in = recorded();
    let finished = das(&stand_in, &["audit", "verify", "log"]).output();
    assert_eq!((finished.code(), finished.stderr_text()), (Some(0), String::new()));
    let said = finished.stdout_text();
    assert!(said.starts_with("log: whole, 4 lines\n  last "), "{said}");
}

#[test]
fn a_changed_a_missing_and_a_moved_line_are_named() {
    let stand_in = recorded();
    let whole = lines(&stand_in);

    let mut changed = whole.clone();
    changed[1] = changed[1].replace("\"verdict\":\"success\"", "\"verdict\":\"timeout\"");
    write(&stand_in, &changed);
    assert_eq!(faults(&stand_in), ["2: it was changed"]);

    write(&stand_in, &[&whole[..1], &whole[2..]].concat());
    assert_eq!(faults(&stand_in), ["2: record 2, which came before it, is missing"]);

    let mut moved = whole.clone();
    moved.swap(1, 2);
    write(&stand_in, &moved);
    assert_eq!(faults(&stand_in), ["3: record 2 is out of its order"]);
}

#[test]
fn a_cut_end_is_found_by_whoever_kept_its_digest_and_a_log_that_grew_still_holds_it() {
    let stand_in = recorded();
    let whole = lines(&stand_in);
    let verified = das(&stand_in, &["audit", "verify", "log", "--json"]).output().stdout_text();
    let verified: Value = serde_json::from_str(&verified).unwrap();
    let last = verified["last_sha256"].as_str().unwrap();
    let verify = || das(&stand_in, &["audit", "verify", "log", "--last-sha256", last]).output();

    record(&stand_in, "good 5");
    assert_eq!(verify().code(), Some(0));
    write(&stand_in, &whole[..3]);
    let cut = verify();
    assert_eq!(cut.code(), Some(1));
    let warning = format!("[sandbox] warning: no line has the SHA-256 {last}: lines are missing\n");
    assert_eq!(cut.stderr_text(), warning);
}

#[test]
fn findings_are_json_too() {
    let stand_in = recorded();
    let mut changed = lines(&stand_in);
    changed[0] = "x".to_owned();
    write(&stand_in, &changed);
    let finished = das(&stand_in, &["audit", "verify", "--json", "log"]).output();
    let mut found: Value = serde_json::from_str(&finished.stdout_text()).unwrap();
    assert!(found["last_sha256"].take().is_string());
    let expected = json!({
        "file": "log", "whole": false, "lines": 4, "faults": ["line 1: it was changed"],
        "more_faults": 0, "torn_lines": [1], "torn_end": false, "last_sha256": null,
    });
    assert_eq!((found, finished.code()), (expected, Some(1)));
}

#[test]
fn what_cannot_be_read_is_an_error_and_no_finding() {
    let stand_in = stand_in();
    das(&stand_in, &["audit", "verify", "none"])
        .stderr("error: cannot read `none`\n  caused by: No such file or directory (os error 2)\n")
        .status(2);
    das(&stand_in, &["audit", "verify", "."])
        .stderr("error: cannot read `.`\n  caused by: Is a directory (os error 21)\n")
        .status(2);
}

#[test]
fn a_file_without_an_end_is_checked_in_bounded_memory() {
    let stand_in = recorded();
    let mut file = fs::OpenOptions::new().append(true).open(log(&stand_in)).unwrap();
    // A sparse file of 32 MB that holds no line feed.
    file.set_len(32 << 20).unwrap();
    file.flush().unwrap();
    let limit = format!(
        "ulimit -v 30000; exec {} audit verify {}",
        env!("CARGO_BIN_EXE_das"),
        log(&stand_in).display()
    );
    let finished =
        crate::support::Cli::program(&stand_in, "/bin/sh".as_ref()).args(["-c", &limit]).output();
    let said = finished.stdout_text();
    assert_eq!(finished.code(), Some(0), "{said}{}", finished.stderr_text());
    assert!(said.contains("the last line has no end") && said.contains("whole, 5 lines"), "{said}");
    assert!(stand_in.home().join("log").exists());
}
