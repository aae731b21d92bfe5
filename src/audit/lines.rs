//! Reads a log of any size line by line in bounded memory, whatever its lines are.

use std::io::{self, BufRead, BufReader, Read};

use sha2::{Digest as _, Sha256};

use crate::digest;

/// The most that is kept of a line: no record is longer, and what is longer is no record.
pub(super) const LONGEST_RECORD: usize = 64 * 1024;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Its bytes without the line feed; none where it is longer than any record.
    pub(super) bytes: Option<Vec<u8>>,
    /// The digest of all its bytes without the line feed.
    pub(super) sha256: String,
    /// Whether it has a line feed.
    pub(super) ended: bool,
}

/// The lines of a stream.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(LONGEST_RECORD, input) }
    }

    fn next_line(&mut self) -> io::Result<Option<Line>> {
        let (mut hasher, mut kept, mut length) = (Sha256::new(), Vec::new(), 0);
        loop {
            let piece = match self.input.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let feed = piece.iter().position(|&byte| byte == b'\n');
            let part = &piece[..feed.unwrap_or(piece.len())];
            hasher.update(part);
            kept.extend_from_slice(&part[..part.len().min(LONGEST_RECORD - kept.len())]);
            length += part.len();
            let (ended, at_end) = (feed.is_some(), piece.is_empty());
            let taken = part.len() + usize::from(ended);
            self.input.consume(taken);
            if at_end && length == 0 {
                return Ok(None);
            }
            if ended || at_end {
                let bytes = (length <= LONGEST_RECORD).then_some(kept);
                return Ok(Some(Line { bytes, sha256: digest::finish(hasher), ended }));
            }
        }
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_line().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<Line> {
        Lines::new(text).map(Result::unwrap).collect()
    }

    #[test]
    fn every_line_has_its_bytes_its_digest_and_its_end() {
        let lines = lines(b"a\n\nb");
        let shown: Vec<_> = lines.iter().map(|it| (it.bytes.as_deref(), it.ended)).collect();
        let expected = [(&b"a"[..], true), (b"", true), (b"b", false)];
        assert_eq!(shown, expected.map(|(bytes, ended)| (Some(bytes), ended)));
        assert_eq!(lines[0].sha256, digest::sha256(b"a"));
        assert_eq!(Lines::new(&b""[..]).count(), 0);
    }

    #[test]
    fn a_line_longer_than_any_record_is_digested_and_not_kept() {
        let long = vec![b'x'; 5 * LONGEST_RECORD];
        let lines = lines(&[&long, &b"\ny\n"[..]].concat());
        assert_eq!((lines[0].bytes.as_ref(), lines.len()), (None, 2));
        assert_eq!(lines[0].sha256, digest::sha256(&long));
        assert_eq!(lines[1].bytes.as_deref(), Some(&b"y"[..]));
    }
}
