//! Bounds what one answer carries of a program's output, whatever the policy lets it keep.

use crate::capture::{Omitted, marker};
use crate::policy::SandboxPolicy;

/// The most output that any answer carries, in bytes. An answer has it twice, as text and as
/// structured content, and escaping may double it: the line stays well under the 10 MiB at
/// which clients hang up.
const CEILING: u64 = 1024 * 1024;

/// How much output, in bytes, an answer may carry of both streams together.
pub(super) fn total(policy: &SandboxPolicy) -> usize {
    usize::try_from(policy.max_output_bytes.min(CEILING)).unwrap_or(usize::MAX)
}

/// The policy with no more output than an answer can carry, so that it is cut only once.
pub(crate) fn fitting(policy: SandboxPolicy) -> SandboxPolicy {
    SandboxPolicy { max_output_bytes: policy.max_output_bytes.min(CEILING), ..policy }
}

/// A stream of output as far as it was kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept<'a> {
    /// What was kept, with a marker where something was not.
    pub(super) text: &'a str,
    /// What that was.
    pub(super) omitted: Option<Omitted>,
}

/// Whether anything had to be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Whole,
    Cut,
}

/// Cuts both streams so that together they have at most `total` bytes, markers aside. A stream
/// that needs less than half leaves the rest to the other.
pub(super) fn fit(stdout: Kept<'_>, stderr: Kept<'_>, total: usize) -> (String, String, Fit) {
    let (out, err) = (stdout.text.len(), stderr.text.len());
    if out + err <= total {
        return (stdout.text.to_owned(), stderr.text.to_owned(), Fit::Whole);
    }
    let share = |own: usize, other: usize| own.min((total / 2).max(total.saturating_sub(other)));
    (cut(stdout, share(out, err)), cut(stderr, share(err, out)), Fit::Cut)
}

/// Keeps two fifths of `keep` bytes from the head and the rest from the tail, at line ends
/// where these are near: a traceback ends with its cause.
fn cut(kept: Kept<'_>, keep: usize) -> String {
    let text = kept.text;
    if text.len() <= keep {
        return text.to_owned();
    }
    let head_end = text.floor_char_boundary(keep * 2 / 5);
    let tail_start = text.ceil_char_boundary(text.len() - (keep - head_end));
    let (head, rest) = text.split_at(line_end_before(text, head_end));
    let (middle, tail) = rest.split_at(line_end_after(text, tail_start) - head.len());
    // The marker stands on a line of its own, and brings its line ends with it.
    let head = head.strip_suffix('\n').unwrap_or(head);
    format!("{head}{}{tail}", marker(all_omitted(middle, kept.omitted)))
}

/// What is missing now: the middle, and what its own marker stood for.
fn all_omitted(middle: &str, before: Option<Omitted>) -> Omitted {
    let own = Omitted { bytes: length(middle), lines: lines(middle) };
    before.map_or(own, |before| {
        let gone = marker(before);
        Omitted {
            bytes: (own.bytes + before.bytes).saturating_sub(length(&gone)),
            lines: (own.lines + before.lines).saturating_sub(lines(&gone)),
        }
    })
}

fn length(text: &str) -> u64 {
    text.len() as u64
}

fn lines(text: &str) -> u64 {
    text.matches('\n').count() as u64
}

fn line_end_before(text: &str, place: usize) -> usize {
    text[..place].rfind('\n').map_or(place, |at| near(place, at + 1))
}

fn line_end_after(text: &str, place: usize) -> usize {
    if text[..place].ends_with('\n') {
        return place;
    }
    text[place..].find('\n').map_or(place, |at| near(place, place + at + 1))
}

/// `wanted` where it is at most a kilobyte away, so that one long line costs nothing.
fn near(place: usize, wanted: usize) -> usize {
    if place.abs_diff(wanted) <= 1024 { wanted } else { place }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fit(stdout: &str, stderr: &str, total: usize) -> (String, String, Fit) {
        let kept = |text| Kept { text, omitted: None };
        super::fit(kept(stdout), kept(stderr), total)
    }

    #[test]
    fn what_fits_is_whole() {
        let fitted = fit("12345", "678", 8);
        assert_eq!(fitted, ("12345".to_owned(), "678".to_owned(), Fit::Whole));
    }

    #[test]
    fn the_head_and_the_larger_tail_stay_and_the_rest_is_counted() {
        let text = (0..1000).map(|n| format!("{n:03}\n")).collect::<Vec<_>>().concat();
        let (out, err, fitted) = fit(&text, "", 100);
        assert_eq!(fitted, Fit::Cut);
        assert_eq!(err, "");
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines[..3], ["000", "001", "002"]);
        assert_eq!(lines[10], "[... 3900 bytes (975 lines) omitted; print less, or aggregate ...]");
        assert_eq!(lines[11..], (985..1000).map(|n| n.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn a_small_stream_stays_whole_beside_a_flood() {
        let (out, err, _) = fit(&"X".repeat(10_000), "cause\n", 1000);
        assert_eq!(err, "cause\n");
        assert_eq!(out.matches('X').count(), 994);
    }

    #[test]
    fn two_floods_share() {
        let (out, err, _) = fit(&"X".repeat(10_000), &"Y".repeat(10_000), 1000);
        assert_eq!((out.matches('X').count(), err.matches('Y').count()), (500, 500));
    }

    #[test]
    fn a_stream_that_was_cut_before_says_what_is_missing_in_all() {
        let before = Omitted { bytes: 5_000_000, lines: 70 };
        let text = format!("{}{}{}", "X".repeat(400), marker(before), "X".repeat(600));
        let kept = Kept { text: &text, omitted: Some(before) };
        let (out, _, _) = super::fit(kept, Kept { text: "", omitted: None }, 100);
        assert_eq!(out.matches('X').count(), 100);
        assert!(out.contains(marker(Omitted { bytes: 5_000_900, lines: 70 }).as_str()), "{out}");
    }

    #[test]
    fn no_policy_makes_an_answer_carry_more_than_the_ceiling() {
        let policy = SandboxPolicy { max_output_bytes: 16_777_216, ..SandboxPolicy::default() };
        assert_eq!(total(&policy), 1_048_576);
        assert_eq!(fitting(policy).max_output_bytes, 1_048_576);
        assert_eq!(total(&SandboxPolicy::default()), 65_536);
    }

    proptest! {
        #[test]
        fn nothing_exceeds_the_total_by_more_than_the_markers(out in "(é|\n|[a-z]{9}|👩)*", err in "(e|\n){0,300}", total in 0_usize..400) {
            let (out, err, _) = fit(&out, &err, total);
            prop_assert!(out.len() + err.len() <= total + 2 * 100);
        }
    }
}
