//! Each stream has its cap: what is beyond it is left out in the middle, and said.

use serde_json::Value;

use super::{SUCCESS, run};
use crate::support::{Amount, Scenario, StandIn, Stream};

const CAP: [&str; 2] = ["--max-output", "1024"];

#[test]
fn what_fits_to_the_last_byte_is_whole() {
    let text = "x".repeat(1024);
    let stand_in = StandIn::playing(Scenario::program().prints(&text).prints_to_stderr(&text));
    run(&stand_in).args(CAP).stdout(&text).stderr(format!("{text}\n{SUCCESS}")).status(0);
}

#[test]
fn one_byte_more_is_left_out_in_the_middle_and_said() {
    let stand_in = StandIn::playing(Scenario::program().prints("x".repeat(1024) + "y"));
    let marker = "[... 1 byte (0 lines) omitted; print less, or aggregate ...]";
    let kept = format!("{}\n{marker}\n{}y", "x".repeat(409), "x".repeat(614));
    let note = "[sandbox] stdout: 1 of 1025 bytes left out; --max-output keeps more\n";
    run(&stand_in).args(CAP).stdout(kept).stderr(SUCCESS.to_owned() + note).status(0);
}

#[test]
fn the_head_and_the_tail_are_kept_in_whole_lines() {
    let lines: Vec<String> = (0..500).map(|line| format!("line {line}\n")).collect();
    let stand_in = StandIn::playing(Scenario::program().prints(lines.concat()));
    let finished = run(&stand_in).args(CAP).output();
    let text = finished.stdout_text();
    let (head, tail) = text.split_once("\n[... ").expect("a marker");
    let (marker, tail) = tail.split_once(" ...]\n").expect("a marker");
    assert!(head.starts_with("line 0\nline 1\n") && tail.ends_with("line 498\nline 499\n"));
    assert!(tail.starts_with("line "), "{tail}");
    assert!(marker.ends_with("lines) omitted; print less, or aggregate"), "{marker}");
}

#[test]
fn a_full_stream_takes_nothing_from_the_other() {
    for (flooded, quiet) in [(Stream::Stdout, "stderr"), (Stream::Stderr, "stdout")] {
        let program = match flooded {
            Stream::Stdout => Scenario::program().prints_to_stderr("here\n"),
            Stream::Stderr => Scenario::program().prints("here\n"),
        };
        let stand_in = StandIn::playing(program.floods(&[flooded], Amount::Only(3_000_000)));
        let finished = run(&stand_in).args(CAP).arg("--json").output();
        let outcome: Value = serde_json::from_slice(&finished.stdout).unwrap();
        let full = if quiet == "stdout" { "stderr" } else { "stdout" };
        assert_eq!(outcome[quiet], "here\n");
        assert_eq!(outcome[format!("{full}_bytes")], 3_000_000);
        assert!(outcome[full].as_str().unwrap().len() < 1200);
        assert_eq!((&outcome["truncated"], &outcome["verdict"]), (&true.into(), &"success".into()));
    }
}

#[test]
fn two_floods_at_once_are_both_drained() {
    let both = [Stream::Stdout, Stream::Stderr];
    let stand_in = StandIn::playing(Scenario::program().floods(&both, Amount::Only(3_000_000)));
    let finished = run(&stand_in).args(CAP).output();
    let notes: Vec<String> = ["stdout", "stderr"]
        .map(|stream| format!("[sandbox] {stream}: "))
        .into_iter()
        .filter(|note| finished.stderr_text().contains(note))
        .collect();
    assert_eq!((notes.len(), finished.code()), (2, Some(0)));
}

#[test]
fn a_character_across_the_cut_is_not_halved() {
    for shift in 0..4 {
        let text = "x".repeat(shift) + &"😀".repeat(400);
        let stand_in = StandIn::playing(Scenario::program().prints(&text));
        let finished = run(&stand_in).args(CAP).arg("--json").output();
        let outcome: Value = serde_json::from_slice(&finished.stdout).unwrap();
        assert!(!outcome["stdout"].as_str().unwrap().contains('\u{fffd}'), "shift {shift}");
        assert_eq!((&outcome["truncated"], &outcome["verdict"]), (&true.into(), &"success".into()));
    }
}
