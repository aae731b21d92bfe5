//! What the check finds, and that nothing escapes it.

use super::*;
use crate::audit::record;
use proptest::prelude::*;

/// A log of so many records, as das writes it, each line with its line feed.
fn log(records: u64) -> Vec<Vec<u8>> {
    let mut next = Link::first();
    let mut lines = Vec::new();
    for n in 0..records {
        let fields = std::collections::BTreeMap::from([("verdict", format!("run {n}"))]);
        let line = record::line(&fields, &next);
        next =
            Link { seq: next.seq + 1, prev_sha256: crate::digest::sha256(&line[..line.len() - 1]) };
        lines.push(line);
    }
    lines
}

fn verify(lines: &[Vec<u8>]) -> Findings {
    Verifier::default().read(lines.concat().as_slice()).unwrap()
}

fn faults(lines: &[Vec<u8>]) -> Vec<String> {
    verify(lines).faults.iter().map(ToString::to_string).collect()
}

/// The number of the line, changed within its text.
fn change(lines: &mut [Vec<u8>], line: usize) {
    let at = lines[line - 1].windows(3).position(|text| text == b"run").unwrap();
    lines[line - 1][at] = b'R';
}

#[test]
fn a_whole_log_has_no_fault_and_tells_its_last_digest() {
    let lines = log(5);
    let findings = verify(&lines);
    assert_eq!((findings.lines, findings.is_whole(), findings.torn_end), (5, true, false));
    let last = lines[4].strip_suffix(b"\n").unwrap();
    assert_eq!(findings.last_sha256, Some(crate::digest::sha256(last)));
    assert_eq!(verify(&[]), Findings::default());
}

#[test]
fn a_changed_line_is_named() {
    for line in 1..=3 {
        let mut lines = log(5);
        change(&mut lines, line);
        assert_eq!(faults(&lines), [format!("line {line}: it was changed")]);
    }
    let mut lines = log(5);
    change(&mut lines, 4);
    assert_eq!(faults(&lines), ["line 4: it or line 5 was changed"]);
}

#[test]
fn a_changed_link_is_told_from_a_changed_line_before_it() {
    let mut lines = log(5);
    let digit = lines[2].len() - 5;
    lines[2][digit] = if lines[2][digit] == b'0' { b'1' } else { b'0' };
    assert_eq!(faults(&lines), ["line 3: it was changed"]);
    let mut lines = log(5);
    let text = String::from_utf8(lines[2].clone()).unwrap();
    lines[2] = text.replace("\"seq\":3", "\"seq\":7").into_bytes();
    assert_eq!(faults(&lines), ["line 3: it was changed"]);
}

#[test]
fn a_line_that_is_no_record_any_more_is_named() {
    let mut lines = log(5);
    lines[2][0] = b'x';
    assert_eq!(faults(&lines), ["line 3: it was changed"]);
    assert_eq!(verify(&lines).torn, [3]);
}

#[test]
fn missing_lines_are_named_and_those_at_the_end_change_the_last_digest() {
    let mut lines = log(6);
    drop(lines.drain(2..4));
    let missing = "line 3: records 3 to 4, which came before it, are missing";
    assert_eq!(faults(&lines), [missing]);
    lines.remove(0);
    let first = "line 1: record 1, which came before it, is missing";
    let second = missing.replace("line 3", "line 2");
    assert_eq!(faults(&lines), [first, second.as_str()]);
    assert_ne!(verify(&log(6)).last_sha256, verify(&log(5)).last_sha256);
}

#[test]
fn reordered_repeated_and_inserted_lines_are_named() {
    let mut lines = log(6);
    lines.swap(2, 3);
    assert_eq!(faults(&lines), ["line 4: record 3 is out of its order"]);
    let mut lines = log(4);
    lines.insert(2, lines[0].clone());
    assert_eq!(faults(&lines), ["line 3: record 1 is out of its order"]);
    let mut lines = log(4);
    lines.insert(2, b"{}\n".to_vec());
    assert_eq!(faults(&lines), ["line 3: it was inserted"]);
}

#[test]
fn lines_after_the_last_record_are_somebody_elses_and_the_last_may_be_torn() {
    let mut lines = log(2);
    lines.push(b"{\"torn".to_vec());
    let findings = verify(&lines);
    assert_eq!((findings.is_whole(), findings.torn_end, findings.torn), (true, true, vec![3]));
    lines[2].push(b'\n');
    assert_eq!(faults(&lines), ["line 3: it was inserted"]);
    assert_eq!(faults(&[b"root:x:0\n".to_vec()]), ["line 1: it was inserted"]);
}

#[test]
fn a_file_begins_a_chain_or_goes_on_with_that_of_the_file_before() {
    let lines = log(6);
    let mut verifier = Verifier::default();
    for file in [&lines[..3], &lines[3..], &lines[..2]] {
        assert!(verifier.read(file.concat().as_slice()).unwrap().is_whole());
    }
    let cut = verifier.read(lines[4..].concat().as_slice()).unwrap();
    let missing = Fault::Missing { line: 1, first: 1, last: 4 };
    assert_eq!(cut.faults, [missing]);
}

#[test]
fn a_log_of_nothing_but_faults_is_not_kept_in_memory() {
    let lines: Vec<Vec<u8>> = std::iter::repeat_n(log(2).remove(1), 1000).collect();
    let findings = verify(&lines);
    assert_eq!(findings.faults.len() as u64 + findings.unlisted, 1000);
    assert_eq!(findings.faults.len(), MOST_FAULTS);
}

proptest! {
    #[test]
    fn one_changed_byte_anywhere_breaks_the_chain_or_changes_its_last_digest(
        at in any::<prop::sample::Index>(), to in any::<u8>(), records in 1u64..8,
    ) {
        let mut bytes = log(records).concat();
        let whole = Verifier::default().read(bytes.as_slice()).unwrap();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != to);
        bytes[at] = to;
        let changed = Verifier::default().read(bytes.as_slice()).unwrap();
        let end = (changed.last_sha256 != whole.last_sha256) || changed.torn_end;
        prop_assert!(!changed.is_whole() || end, "byte {} to {}: {:?}", at, to, changed);
    }

    #[test]
    fn a_missing_line_that_is_not_the_last_is_found(
        records in 2u64..9, at in any::<prop::sample::Index>(),
    ) {
        let mut lines = log(records);
        let at = at.index(lines.len() - 1);
        lines.remove(at);
        prop_assert!(!verify(&lines).is_whole());
    }

    #[test]
    fn any_other_order_is_found(lines in Just(log(6)).prop_shuffle()) {
        prop_assume!(lines != log(6));
        prop_assert!(!verify(&lines).is_whole());
    }

    #[test]
    fn whatever_a_file_is_it_can_be_checked(bytes in any::<Vec<u8>>()) {
        let findings = Verifier::default().read(bytes.as_slice()).unwrap();
        prop_assert_eq!(findings.last_sha256.is_some(), !bytes.is_empty());
    }
}
