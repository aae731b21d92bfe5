//! `das audit show`: what ran.

use std::fs;

use super::{das, lines, record, stand_in, write};
use crate::support::{Place as _, StandIn};

fn recorded() -> StandIn {
    let stand_in = stand_in();
    for code in ["good", "fail", "good"] {
        record(&stand_in, code);
    }
    stand_in
}

fn show(stand_in: &StandIn, args: &[&str]) -> (Option<i32>, String, String) {
    let finished = das(stand_in, &["audit", "show", "log"]).args(args.to_vec()).output();
    (finished.code(), finished.stdout_text(), finished.stderr_text())
}

/// The numbers of the records that are shown.
#[track_caller]
fn shown(stand_in: &StandIn, args: &[&str]) -> Vec<u64> {
    let (_, stdout, stderr) = show(stand_in, args);
    assert_eq!(stderr, "");
    let numbers = stdout.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    numbers.map(|word| word.parse().expect("a number")).collect()
}

#[test]
fn runs_are_a_table_of_80_columns() {
    let stand_in = recorded();
    let (code, stdout, _) = show(&stand_in, &[]);
    let rows: Vec<&str> = stdout.lines().collect();
    assert_eq!((code, rows.len()), (Some(0), 4));
    assert!(rows.iter().all(|row| row.len() <= 80), "{stdout}");
    assert!(rows[2].contains("  error             3  "), "{}", rows[2]);
}

#[test]
fn the_filters_choose() {
    let stand_in = recorded();
    assert_eq!(shown(&stand_in, &["--verdict", "error"]), [2]);
    assert_eq!(shown(&stand_in, &["--verdict", "error", "--verdict", "success"]), [1, 2, 3]);
    assert_eq!(shown(&stand_in, &["--language", "py", "--last", "2"]), [2, 3]);
    assert_eq!(shown(&stand_in, &["--since", "1h", "--until", "2999-01-01"]), [1, 2, 3]);
    assert_eq!(
        show(&stand_in, &["--since", "2999-01-01"]),
        (Some(1), String::new(), String::new())
    );
    assert_eq!(show(&stand_in, &["--language", "node"]).0, Some(1));
}

#[test]
fn whether_a_program_ever_ran_here_is_told_by_its_digest() {
    let stand_in = recorded();
    fs::write(stand_in.home().join("bad"), "fail").unwrap();
    fs::write(stand_in.home().join("other"), "fail ").unwrap();
    assert_eq!(shown(&stand_in, &["--code", "bad"]), [2]);
    assert_eq!(show(&stand_in, &["--code", "other"]).0, Some(1));
    let from_stdin = das(&stand_in, &["audit", "show", "log", "--code", "-"]).stdin("fail");
    assert_eq!(from_stdin.output().code(), Some(0));
}

#[test]
fn json_is_the_line_itself() {
    let stand_in = recorded();
    let second = lines(&stand_in).remove(1) + "\n";
    assert_eq!(
        show(&stand_in, &["--json", "--verdict", "error"]),
        (Some(0), second, String::new())
    );
}

#[test]
fn what_is_no_record_is_counted_and_nothing_of_it_is_shown() {
    let stand_in = recorded();
    let mut changed = lines(&stand_in);
    changed[0] = "\u{1b}[2Jgone".to_owned();
    write(&stand_in, &changed);
    let (code, stdout, stderr) = show(&stand_in, &[]);
    let warning = "[sandbox] warning: 1 lines are no records; `das audit verify` tells more\n";
    assert_eq!((code, stderr.as_str()), (Some(0), warning));
    assert!(!stdout.contains('\u{1b}'), "{stdout}");
}

#[test]
fn a_filter_that_is_none_is_a_usage_error() {
    let stand_in = recorded();
    for args in [["--verdict", "good"], ["--since", "yesterday"], ["--last", "-1"]] {
        assert_eq!(show(&stand_in, &args).0, Some(2), "{args:?}");
    }
    assert_eq!(show(&stand_in, &["--code", "none"]).0, Some(2));
}
