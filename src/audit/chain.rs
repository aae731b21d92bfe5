//! The chain that ties each line of a log to the line before it.
//!
//! A record's `seq` is its number among the lines of its chain, and `prev_sha256` is the SHA-256
//! of the line before, of its exact bytes without the line feed. The first line of a file has 1
//! and 64 zeros. A line that is no record, such as one that a power cut tore, stays as it is and
//! counts: the record after it vouches for its bytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde::{Deserialize, Serialize};

use crate::digest;

/// How far back from a log's end its last record is looked for: several times the longest record.
pub(super) const LOOK_BACK: u64 = 128 * 1024;

/// A record's place in its chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    /// The number of its line, from 1.
    pub(super) seq: u64,
    /// The digest of the line before.
    pub(super) prev_sha256: String,
}

impl Link {
    /// The place of a file's first line.
    pub(super) fn first() -> Self {
        Self { seq: 1, prev_sha256: "0".repeat(64) }
    }

    /// The place that a line claims, if it is a record.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        // Two lines that ran together, or a line with a tail, are no record.
        let link: Self = serde_json::from_slice(text).ok()?;
        (link.seq > 0 && digest::is_sha256(&link.prev_sha256)).then_some(link)
    }
}

/// The end of a log, as whoever writes next finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tail {
    /// The place of the next record.
    pub(super) next: Link,
    /// The last line has no line feed: its write was cut off.
    pub(super) torn: bool,
}

/// Why a log cannot be continued.
#[derive(Debug, thiserror::Error)]
pub(super) enum TailError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Nothing in its last part is a record.
    #[error("no record in its last {LOOK_BACK} bytes")]
    NoRecord,
}

impl Tail {
    /// Reads the end of a file, which must not grow meanwhile.
    pub(super) fn read(file: &File) -> Result<Self, TailError> {
        let length = file.metadata()?.len();
        let from = length.saturating_sub(LOOK_BACK);
        let mut end = vec![0; usize::try_from(length - from).unwrap_or(0)];
        file.read_exact_at(&mut end, from)?;
        Self::of(&end, from == 0).ok_or(TailError::NoRecord)
    }

    /// The tail that these last bytes of a log are; `whole` says whether they are all of it.
    fn of(end: &[u8], whole: bool) -> Option<Self> {
        if end.is_empty() {
            return Some(Self { next: Link::first(), torn: false });
        }
        let (lines, torn) = match end.strip_suffix(b"\n") {
            Some(lines) => (lines, false),
            None => (end, true),
        };
        let mut lines: Vec<&[u8]> = lines.split(|&byte| byte == b'\n').collect();
        if !whole {
            // It may have begun before.
            lines.remove(0);
        }
        let prev_sha256 = digest::sha256(lines.last()?);
        let record = lines
            .iter()
            .rev()
            .zip(1..)
            .find_map(|(line, back)| Some(Link::of(line)?.seq.saturating_add(back)));
        let counted = whole.then_some(lines.len() as u64 + 1);
        Some(Self { next: Link { seq: record.or(counted)?, prev_sha256 }, torn })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seq: u64) -> String {
        format!("{{\"seq\":{seq},\"prev_sha256\":\"{}\"}}", "a".repeat(64))
    }

    fn tail(end: &str) -> Tail {
        Tail::of(end.as_bytes(), true).unwrap()
    }

    #[test]
    fn an_empty_log_begins_a_chain() {
        assert_eq!(tail(""), Tail { next: Link::first(), torn: false });
    }

    #[test]
    fn a_log_is_continued_after_its_last_line() {
        let last = record(7);
        let tail = tail(&format!("{}\n{last}\n", record(6)));
        assert_eq!((tail.next.seq, tail.torn), (8, false));
        assert_eq!(tail.next.prev_sha256, digest::sha256(last.as_bytes()));
    }

    #[test]
    fn torn_lines_count_and_are_vouched_for() {
        let tail = tail(&format!("{}\n{{\"tor\n\n{{\"timest", record(6)));
        assert_eq!((tail.next.seq, tail.torn), (10, true));
        assert_eq!(tail.next.prev_sha256, digest::sha256(b"{\"timest"));
    }

    #[test]
    fn a_log_that_was_torn_at_its_first_line_is_continued() {
        assert_eq!((tail("{\"timest").next.seq, tail("x\ny\n").next.seq), (2, 3));
    }

    #[test]
    fn a_line_whose_beginning_is_out_of_sight_is_not_believed() {
        assert_eq!(Tail::of(record(6).as_bytes(), false), None);
        let lines = format!("{}\n{}\n", record(6), "x");
        assert_eq!(Tail::of(lines.as_bytes(), false), None);
    }

    #[test]
    fn what_is_no_record_has_no_place() {
        for line in ["", "{}", "[1]", "{\"seq\":0,\"prev_sha256\":\"\"}", "\0\0", "{\"seq\":-1}"] {
            assert_eq!(Link::of(line.as_bytes()), None, "{line:?}");
        }
        assert_eq!(Link::of(format!("{}x", record(1)).as_bytes()), None);
    }
}
