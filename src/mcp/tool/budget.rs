//! Bounds what one answer carries of a program's output, whatever the policy lets it keep.

use crate::policy::SandboxPolicy;

/// The most output that any answer carries, in bytes. An answer has it twice, as text and as
/// structured content, and escaping may double it: the line stays well under the 10 MiB at
/// which clients hang up.
const CEILING: u64 = 1024 * 1024;

/// How much output, in bytes, an answer may carry of both streams together.
pub(super) fn total(policy: &SandboxPolicy) -> usize {
    usize::try_from(policy.max_output_bytes.min(CEILING)).unwrap_or(usize::MAX)
}

/// Whether anything had to be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Whole,
    Cut,
}

/// Cuts both streams so that together they have at most `total` bytes, markers aside. A stream
/// that needs less than half leaves the rest to the other.
pub(super) fn fit(stdout: &str, stderr: &str, total: usize) -> (String, String, Fit) {
    if stdout.len() + stderr.len() <= total {
        return (stdout.to_owned(), stderr.to_owned(), Fit::Whole);
    }
    let half = total / 2;
    let share = |own: usize, other: usize| own.min(half.max(total.saturating_sub(other)));
    let out = cut(stdout, share(stdout.len(), stderr.len()));
    let err = cut(stderr, share(stderr.len(), stdout.len()));
    (out, err, Fit::Cut)
}

/// Keeps two fifths of `keep` bytes from the head and the rest from the tail, at line ends
/// where these are near: a traceback ends with its cause.
fn cut(text: &str, keep: usize) -> String {
    if text.len() <= keep {
        return text.to_owned();
    }
    let head_len = text.floor_char_boundary(keep * 2 / 5);
    let tail_start = text.ceil_char_boundary(text.len() - (keep - head_len));
    let head = text[..head_len].rfind('\n').map_or(head_len, |at| near(head_len, at + 1));
    let tail = if text[..tail_start].ends_with('\n') {
        tail_start
    } else {
        let next = text[tail_start..].find('\n').map_or(tail_start, |at| tail_start + at + 1);
        near(tail_start, next)
    };
    let omitted = &text[head..tail];
    let lines = omitted.matches('\n').count();
    let break_before = if text[..head].ends_with('\n') { "" } else { "\n" };
    format!(
        "{}{break_before}[... {} bytes ({lines} lines) omitted; print less, or aggregate ...]\n{}",
        &text[..head],
        omitted.len(),
        &text[tail..]
    )
}

/// `wanted` where it is at most a kilobyte away, so that one long line costs nothing.
fn near(place: usize, wanted: usize) -> usize {
    if place.abs_diff(wanted) <= 1024 { wanted } else { place }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
    fn no_policy_makes_an_answer_carry_more_than_the_ceiling() {
        let policy = SandboxPolicy { max_output_bytes: 16_777_216, ..SandboxPolicy::default() };
        assert_eq!(total(&policy), 1_048_576);
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
