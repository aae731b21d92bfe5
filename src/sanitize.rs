//! Makes untrusted text harmless for a terminal: whatever could drive it is shown, not sent.
//!
//! For terminals alone; on a pipe bytes pass untouched.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A writer that escapes what could drive the terminal behind it.
#[derive(Debug)]
pub struct TerminalWriter<W> {
    inner: W,
    /// The beginning of a character whose rest has not come yet.
    begun: Vec<u8>,
}

impl<W: Write> TerminalWriter<W> {
    /// Writes to a terminal.
    pub fn new(inner: W) -> Self {
        Self { inner, begun: Vec::new() }
    }
}

impl<W: Write> Write for TerminalWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.begun);
        let whole = match std::str::from_utf8(&pending) {
            // Only an end that more bytes could complete is kept back.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => last_whole(&pending),
        };
        self.begun = pending[whole..].to_vec();
        self.inner.write_all(escape(&String::from_utf8_lossy(&pending[..whole])).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W> Drop for TerminalWriter<W> {
    fn drop(&mut self) {
        // What was begun and never completed is no character.
        self.begun.clear();
    }
}

/// The length of bytes that hold invalid UTF-8, without a character begun at their end.
fn last_whole(bytes: &[u8]) -> usize {
    let back = bytes.iter().rev().take(3).position(|&byte| byte >= 0xC0);
    let Some(back) = back else { return bytes.len() };
    let start = bytes.len() - 1 - back;
    match std::str::from_utf8(&bytes[start..]) {
        Err(error) if error.error_len().is_none() => start,
        Ok(_) | Err(_) => bytes.len(),
    }
}

/// The text with every character escaped that a terminal obeys or hides.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        let written = match c {
            c if !is_harmful(c) => escaped.write_char(c),
            c if c.is_ascii() => write!(escaped, "\\x{:02x}", u32::from(c)),
            c => write!(escaped, "{}", c.escape_unicode()),
        };
        written.expect("a string takes everything");
    }
    Cow::Owned(escaped)
}

/// Controls other than tab, line feed and carriage return; what turns the direction of text; what
/// takes no room.
fn is_harmful(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_is_shown_instead() {
        for (text, shown) in [
            ("\x1b[2J", "\\x1b[2J"),
            ("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b", "a\\u{200b}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\0", "\\x00"),
            ("50 %\r100 %\tdone\n", "50 %\r100 %\tdone\n"),
            ("grüße 你好 😀", "grüße 你好 😀"),
        ] {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn a_harmless_text_is_not_copied() {
        assert!(matches!(escape("plain\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_character_in_pieces_comes_out_whole_and_an_escape_in_pieces_is_still_one() {
        let mut shown = Vec::new();
        let mut writer = TerminalWriter::new(&mut shown);
        for byte in "é😀\u{9b}x".as_bytes() {
            writer.write_all(&[*byte]).unwrap();
        }
        drop(writer);
        assert_eq!(String::from_utf8(shown).unwrap(), "é😀\\u{9b}x");
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        let mut shown = Vec::new();
        TerminalWriter::new(&mut shown).write_all(b"a\xff\xfeb\xc3").unwrap();
        assert_eq!(String::from_utf8(shown).unwrap(), "a\u{fffd}\u{fffd}b");
    }
}
