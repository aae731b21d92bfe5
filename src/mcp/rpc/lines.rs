//! Cuts a byte stream into messages, one a line, none longer than a cap. It knows bytes, not JSON.

use std::io::{self, BufRead, ErrorKind};

/// The longest line that is read as a message, in bytes without its newline.
pub(crate) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Its bytes, without the whitespace around them.
    Message(Vec<u8>),
    /// It went over the cap and was thrown away up to its newline.
    TooLong,
}

/// An iterator over the lines of `input`; its end is the end of the input.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    cap: usize,
    at_start: bool,
}

impl<R: BufRead> Lines<R> {
    /// Lines of at most `cap` bytes; longer ones are never held in memory whole.
    pub(crate) fn new(input: R, cap: usize) -> Self {
        Self { input, cap, at_start: true }
    }

    /// The next line, blank ones included. A last line without a newline counts.
    fn read(&mut self) -> io::Result<Option<Line>> {
        let mut line = Some(Vec::new());
        let mut seen_any = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() && !seen_any {
                return Ok(None);
            }
            seen_any = true;
            let newline = chunk.iter().position(|&byte| byte == b'\n');
            let ended = newline.is_some() || chunk.is_empty();
            let piece = &chunk[..newline.unwrap_or(chunk.len())];
            // An overlong line becomes `None` and stays so: its memory goes at once.
            line = line.filter(|line| line.len() + piece.len() <= self.cap).map(|mut line| {
                line.extend_from_slice(piece);
                line
            });
            let used = piece.len() + usize::from(newline.is_some());
            self.input.consume(used);
            if ended {
                return Ok(Some(line.map_or(Line::TooLong, Line::Message)));
            }
        }
    }

    fn without_margins(&mut self, line: Vec<u8>) -> Vec<u8> {
        let marked = std::mem::take(&mut self.at_start) && line.starts_with(BYTE_ORDER_MARK);
        let start = if marked { BYTE_ORDER_MARK.len() } else { 0 };
        let inner = line[start..].trim_ascii();
        if inner.len() == line.len() { line } else { inner.to_vec() }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read().transpose()? {
                Ok(Line::Message(line)) => {
                    let line = self.without_margins(line);
                    if !line.is_empty() {
                        return Some(Ok(Line::Message(line)));
                    }
                }
                other => return Some(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use proptest::prelude::*;

    use super::*;

    fn lines(input: &[u8], cap: usize) -> Vec<Line> {
        Lines::new(input, cap).map(Result::unwrap).collect()
    }

    fn message(text: &str) -> Line {
        Line::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn each_line_is_a_message_and_the_last_needs_no_newline() {
        assert_eq!(
            lines(b"one\ntwo\nthree", 10),
            [message("one"), message("two"), message("three")]
        );
    }

    #[test]
    fn blank_lines_carriage_returns_and_margins_are_tolerated() {
        assert_eq!(lines(b"\r\n  one \r\n\n\t\ntwo\r\n\n", 10), [message("one"), message("two")]);
    }

    #[test]
    fn a_byte_order_mark_is_stripped_from_the_first_line_alone() {
        let input = b"\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n";
        assert_eq!(lines(input, 10), [message("one"), message("\u{FEFF}two")]);
    }

    #[test]
    fn a_line_of_exactly_the_cap_is_read_and_one_byte_more_is_thrown_away() {
        assert_eq!(
            lines(b"12345\n123456\nnext\n", 5),
            [message("12345"), Line::TooLong, message("next")]
        );
    }

    #[test]
    fn an_overlong_line_without_a_newline_ends_with_the_input() {
        assert_eq!(lines(b"1234567", 5), [Line::TooLong]);
    }

    #[test]
    fn an_overlong_line_is_never_held_in_memory() {
        let flood = io::repeat(b'x').take(64 * 1024 * 1024).chain(&b"\nnext\n"[..]);
        let read: Vec<_> = Lines::new(BufReader::new(flood), 1024).map(Result::unwrap).collect();
        assert_eq!(read, [Line::TooLong, message("next")]);
    }

    /// Fails as a signal does, then reads on.
    struct Interrupted<'a>(bool, &'a [u8]);

    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, false) {
                return Err(ErrorKind::Interrupted.into());
            }
            self.1.read(buffer)
        }
    }

    #[test]
    fn an_interrupted_read_is_not_the_end() {
        let input = BufReader::new(Interrupted(true, b"one\n"));
        assert_eq!(Lines::new(input, 9).map(Result::unwrap).collect::<Vec<_>>(), [message("one")]);
    }

    proptest! {
        #[test]
        fn how_the_bytes_arrive_changes_nothing(input: Vec<u8>, buffer in 1_usize..9) {
            let slowly: Vec<_> =
                Lines::new(BufReader::with_capacity(buffer, &input[..]), 6).map(Result::unwrap).collect();
            prop_assert_eq!(slowly, lines(&input, 6));
        }
    }
}
