//! Keeps the head and the tail of a stream of any length in bounded memory.
//!
//! It knows bytes and characters; it does not know what printed them.

use std::borrow::Cow;

/// Of what is kept, the head's share. The tail gets more: the cause of a failure comes last.
const HEAD_PERCENT: usize = 40;

/// How far into the tail its first whole line is looked for.
const LINE_SEARCH: usize = 1024;

/// Takes a stream in, piece by piece.
#[derive(Debug)]
pub struct Capture {
    head_cap: usize,
    tail_cap: usize,
    head: Vec<u8>,
    /// Holds up to twice its cap, so that it is cut only now and then.
    tail: Vec<u8>,
    total: u64,
    newlines: u64,
    shown: usize,
}

/// What was kept of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    bytes: Vec<u8>,
    total: u64,
    omitted: Option<Omitted>,
    shown: usize,
}

/// What was left out between the head and the tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Omitted {
    /// How many bytes.
    pub bytes: u64,
    /// How many line ends were among them.
    pub lines: u64,
}

impl Capture {
    /// Keeps at most `cap` bytes.
    pub fn new(cap: usize) -> Self {
        let head_cap = cap * HEAD_PERCENT / 100;
        Self {
            head_cap,
            tail_cap: cap - head_cap,
            head: Vec::new(),
            tail: Vec::new(),
            total: 0,
            newlines: 0,
            shown: 0,
        }
    }

    /// Takes in the next piece. Returns what of the head is new and certain to be kept, ending
    /// with a whole character: what a live display may show at once.
    pub fn push(&mut self, piece: &[u8]) -> &[u8] {
        self.total += piece.len() as u64;
        self.newlines += count_newlines(piece);
        let to_head = piece.len().min(self.head_cap - self.head.len());
        self.head.extend_from_slice(&piece[..to_head]);
        self.push_tail(&piece[to_head..]);
        let from = self.shown;
        self.shown = whole_characters(&self.head).max(from);
        &self.head[from..self.shown]
    }

    fn push_tail(&mut self, piece: &[u8]) {
        let kept = &piece[piece.len().saturating_sub(self.tail_cap)..];
        if self.tail.len() + kept.len() > 2 * self.tail_cap {
            let surplus = (self.tail.len() + kept.len()).saturating_sub(self.tail_cap);
            self.tail.drain(..surplus.min(self.tail.len()));
        }
        self.tail.extend_from_slice(kept);
    }

    /// How many bytes have come.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What was kept, with a line in the place of what was not.
    pub fn finish(self) -> Captured {
        let Self { head_cap: _, tail_cap, mut head, tail, total, newlines, shown } = self;
        let kept = &tail[tail.len().saturating_sub(tail_cap)..];
        if total == (head.len() + kept.len()) as u64 {
            head.extend_from_slice(kept);
            return Captured { bytes: head, total, omitted: None, shown };
        }
        head.truncate(whole_characters(&head));
        let kept = from_line_start(kept);
        let omitted = Omitted {
            bytes: total - (head.len() + kept.len()) as u64,
            lines: newlines - count_newlines(&head) - count_newlines(kept),
        };
        head.extend_from_slice(marker(omitted).as_bytes());
        head.extend_from_slice(kept);
        Captured { bytes: head, total, omitted: Some(omitted), shown }
    }
}

impl Captured {
    /// What is kept: the whole stream, or its head, a line that says what was left out, and its
    /// tail.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The part of [`bytes`](Self::bytes) that no [`Capture::push`] has returned.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.shown..]
    }

    /// The kept bytes as text; invalid UTF-8 becomes U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// How many bytes the whole stream had.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What was left out, if anything.
    pub fn omitted(&self) -> Option<Omitted> {
        self.omitted
    }
}

/// The line in the place of what was left out.
pub(crate) fn marker(omitted: Omitted) -> String {
    let Omitted { bytes, lines } = omitted;
    let plural = |number| if number == 1 { "" } else { "s" };
    let (bytes_end, lines_end) = (plural(bytes), plural(lines));
    format!(
        "\n[... {bytes} byte{bytes_end} ({lines} line{lines_end}) omitted; print less, or aggregate ...]\n"
    )
}

#[expect(clippy::naive_bytecount, reason = "the compiler vectorises it; not worth a crate")]
fn count_newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// The length without a last character that is only begun.
fn whole_characters(bytes: &[u8]) -> usize {
    let begun = bytes.iter().rev().take(4).position(|&byte| byte & 0xC0 != 0x80);
    let Some(back) = begun else { return bytes.len() };
    let start = bytes.len() - 1 - back;
    let needed = match bytes[start] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    if start + needed > bytes.len() { start } else { bytes.len() }
}

/// The tail from its first whole line on, or, where lines are long, from its first character.
fn from_line_start(tail: &[u8]) -> &[u8] {
    let searched = &tail[..tail.len().min(LINE_SEARCH)];
    let start = match searched.iter().position(|&byte| byte == b'\n') {
        Some(newline) if newline + 1 < tail.len() => newline + 1,
        _ => tail.iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80).count(),
    };
    &tail[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capture(cap: usize, pieces: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(cap);
        let mut shown = Vec::new();
        for piece in pieces {
            shown.extend_from_slice(capture.push(piece));
        }
        let captured = capture.finish();
        assert_eq!([&shown, captured.rest()].concat(), captured.bytes(), "what is shown is kept");
        captured
    }

    #[test]
    fn what_fits_is_kept_whole_up_to_the_last_byte() {
        let captured = capture(10, &[b"01234", b"56789"]);
        assert_eq!((captured.bytes(), captured.omitted()), (&b"0123456789"[..], None));
    }

    #[test]
    fn one_byte_too_many_leaves_out_the_middle_and_says_how_much() {
        let captured = capture(10, &[b"01234", b"56789x"]);
        let marker = "\n[... 1 byte (0 lines) omitted; print less, or aggregate ...]\n";
        assert_eq!(captured.text(), format!("0123{marker}56789x"));
        assert_eq!((captured.total(), captured.omitted().unwrap().bytes), (11, 1));
    }

    #[test]
    fn the_tail_begins_with_a_whole_line() {
        let lines: Vec<String> = (0..100).map(|n| format!("line {n}\n")).collect();
        let captured = capture(100, &[lines.concat().as_bytes()]);
        let text = captured.text();
        let (head, tail) = text.split_once("...]\n").unwrap();
        assert!(head.starts_with("line 0\nline 1\n"), "{text}");
        assert!(tail.starts_with("line ") && tail.ends_with("line 99\n"), "{text}");
        let omitted = captured.omitted().unwrap();
        let kept = text.matches("line ").count() as u64;
        assert!((99..=101).contains(&(omitted.lines + kept)), "{omitted:?}, {kept} kept: {text}");
    }

    #[test]
    fn a_character_across_either_cut_is_left_out_whole() {
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), "😀".repeat(50));
            let captured = capture(30, &[text.as_bytes()]);
            assert!(std::str::from_utf8(captured.bytes()).is_ok(), "shift {shift}");
        }
    }

    #[test]
    fn a_character_that_comes_in_two_pieces_is_shown_in_one() {
        let mut capture = Capture::new(100);
        assert_eq!(capture.push(b"a\xf0\x9f"), b"a");
        assert_eq!(capture.push(b"\x98\x80"), "😀".as_bytes());
    }

    #[test]
    fn memory_stays_bounded_in_a_flood() {
        let mut capture = Capture::new(1000);
        for _ in 0..10_000 {
            capture.push(&[b'y'; 700]);
            assert!(capture.head.len() + capture.tail.len() <= 2000);
        }
        assert_eq!(capture.finish().total(), 7_000_000);
    }

    proptest! {
        #[test]
        fn any_chunking_keeps_the_same_bytes(
            bytes in proptest::collection::vec(any::<u8>(), 0..3000),
            cuts in proptest::collection::vec(0usize..3000, 0..20),
            cap in 1024usize..2048,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let (whole, pieced) = (capture(cap, &[&bytes]), capture(cap, &pieces));
            prop_assert_eq!(whole.bytes(), pieced.bytes());
            prop_assert_eq!(whole.omitted(), pieced.omitted());
            prop_assert!(whole.bytes().len() <= cap + 100);
        }
    }
}
