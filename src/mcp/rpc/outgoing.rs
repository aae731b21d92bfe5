//! Turns a message into the one line that goes over the wire.

use serde::Serialize;

/// JSON in UTF-8 on one line, with its newline. U+2028 and U+2029, which some clients take for
/// line ends, are escaped.
pub(crate) fn to_line(message: &impl Serialize) -> Vec<u8> {
    let mut line =
        serde_json::to_vec(message).expect("messages have string keys and no failing serialiser");
    if line.windows(3).any(is_separator) {
        line = escape_separators(&line);
    }
    line.push(b'\n');
    line
}

fn is_separator(bytes: &[u8]) -> bool {
    matches!(bytes, [0xE2, 0x80, 0xA8 | 0xA9])
}

/// In JSON they can only stand inside a string, where the escape means the same.
fn escape_separators(line: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(line.len() + 64);
    let mut rest = line;
    while let Some(at) = rest.windows(3).position(is_separator) {
        escaped.extend_from_slice(&rest[..at]);
        escaped.extend_from_slice(if rest[at + 2] == 0xA8 { b"\\u2028" } else { b"\\u2029" });
        rest = &rest[at + 3..];
    }
    escaped.extend_from_slice(rest);
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn line_and_paragraph_separators_are_escaped() {
        assert_eq!(to_line(&"a\u{2028}b\u{2029}\u{2028}c\n"), b"\"a\\u2028b\\u2029\\u2028c\\n\"\n");
    }

    proptest! {
        #[test]
        fn every_text_is_one_line_and_reads_back_as_it_was(text in "(\\PC|[\u{0}-\u{1f}\u{2027}-\u{202a}])*") {
            let line = String::from_utf8(to_line(&text)).unwrap();
            prop_assert_eq!(line.matches(['\n', '\r', '\u{2028}', '\u{2029}']).count(), 1);
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
