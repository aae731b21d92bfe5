//! Makes a program's output readable for a model: no terminal sequences, no progress bars
//! drawn over and over, no control characters. What is left out is said, what stays keeps its
//! meaning.

use std::borrow::Cow;

/// So many states of one line are kept; of more, only the last.
const KEPT_STATES: usize = 4;

/// The longest terminal sequence that carries text (a title, a link), in bytes.
const LONGEST_STRING: usize = 4096;

/// `text` without what only a terminal could show. Borrows what is clean already.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        Cow::Owned(settle_lines(&without_sequences(text)))
    } else {
        Cow::Borrowed(text)
    }
}

/// Drops terminal sequences and shows other control characters, but keeps `\n`, `\t` and `\r`.
fn without_sequences(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' | '\t' | '\r' => plain.push(c),
            '\u{1b}' => match sequence_len(rest.as_bytes()) {
                Some(len) => rest = &rest[len..],
                None => plain.push(picture(c)),
            },
            c if c.is_control() => plain.push(picture(c)),
            c => plain.push(c),
        }
    }
    plain
}

/// The visible stand-in of a control character.
fn picture(control: char) -> char {
    match u32::from(control) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7F => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// The length of the sequence (ECMA-48) that follows an escape character; `None` where what
/// follows is none, so that a lone escape swallows no text. All its bytes are ASCII, or stand
/// before an ASCII terminator.
fn sequence_len(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'[' => control_sequence_len(rest),
        b']' | b'P' | b'X' | b'^' | b'_' => control_string_len(rest),
        0x20..=0x2F => {
            let intermediates =
                rest.iter().take_while(|byte| (0x20..=0x2F).contains(*byte)).count();
            matches!(rest.get(intermediates)?, 0x30..=0x7E).then_some(intermediates + 1)
        }
        0x30..=0x7E => Some(1),
        _ => None,
    }
}

/// `[`, parameters, intermediates, a final byte: colours and cursor movements.
fn control_sequence_len(rest: &[u8]) -> Option<usize> {
    let parameters = rest[1..].iter().take_while(|byte| (0x20..=0x3F).contains(*byte)).count();
    matches!(rest.get(1 + parameters)?, 0x40..=0x7E).then_some(parameters + 2)
}

/// A string that BEL or `ESC \` ends on the same line: window titles, links, clipboard writes.
fn control_string_len(rest: &[u8]) -> Option<usize> {
    let window = &rest[..rest.len().min(LONGEST_STRING)];
    let end = window.iter().position(|byte| matches!(byte, b'\x07' | b'\x1b' | b'\n'))?;
    match window[end..] {
        [b'\x07', ..] => Some(end + 1),
        [b'\x1b', b'\\', ..] => Some(end + 2),
        _ => None,
    }
}

fn settle_lines(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(settle).collect();
    lines.join("\n")
}

/// A line that was drawn over: its states one below the other, or the last of many.
fn settle(line: &str) -> Cow<'_, str> {
    if !line.contains('\r') {
        return Cow::Borrowed(line);
    }
    let states: Vec<_> = line.split('\r').filter(|state| !state.trim().is_empty()).collect();
    match states[..] {
        [.., last] if states.len() > KEPT_STATES => {
            let omitted = states.len() - 1;
            Cow::Owned(format!(
                "[... {omitted} states of this line, each overwritten (\\r), omitted ...]\n{last}"
            ))
        }
        _ => Cow::Owned(states.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_text_is_not_even_copied() {
        assert!(matches!(clean("a\tb\n  é 👩‍💻 \u{202e}x\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn terminal_sequences_are_dropped_and_their_text_stays() {
        for (raw, plain) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[Hhome", "home"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]52;c;aGk=\u{7}", ""),
            ("\u{1b}(Bcharset", "charset"),
            ("\u{1b}7saved\u{1b}8", "saved"),
            ("\u{1b}[38:2::1:2:3mé", "é"),
        ] {
            assert_eq!(clean(raw), plain, "{raw:?}");
        }
    }

    #[test]
    fn a_broken_sequence_swallows_no_text() {
        for (raw, plain) in [
            ("\u{1b}", "␛"),
            ("\u{1b}[1;31", "␛[1;31"),
            ("\u{1b}[é", "␛[é"),
            ("\u{1b}]0;all the rest", "␛]0;all the rest"),
            ("\u{1b}]0;no end\nnext\u{7}", "␛]0;no end\nnext␇"),
            ("\u{1b}\nx", "␛\nx"),
        ] {
            assert_eq!(clean(raw), plain, "{raw:?}");
        }
        let long = format!("\u{1b}P{}\u{1b}\\", "q".repeat(LONGEST_STRING));
        assert!(clean(&long).starts_with("␛Pqqq"));
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(clean("a\0b\u{8}c\u{7f}d\u{85}"), "a␀b␈c␡d\u{fffd}");
    }

    #[test]
    fn windows_line_ends_become_newlines() {
        assert_eq!(clean("a\r\nb\r\n\r\n"), "a\nb\n\n");
    }

    #[test]
    fn a_few_states_of_a_line_are_all_kept() {
        assert_eq!(clean("1\r2\r3\n"), "1\n2\n3\n");
    }

    #[test]
    fn a_progress_bar_comes_down_to_its_end() {
        let bar = (0..=100).map(|n| format!("\r\u{1b}[K{n:3}%")).collect::<Vec<_>>().concat();
        assert_eq!(
            clean(&format!("{bar}\r    \rdone\n")),
            "[... 101 states of this line, each overwritten (\\r), omitted ...]\ndone\n"
        );
    }

    proptest! {
        #[test]
        fn what_is_clean_has_no_control_characters_and_stays_as_it_is(text in "([\u{0}-\u{a0}]|\\[|\\]|m|\\PC)*") {
            let once = clean(&text).into_owned();
            prop_assert!(!once.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
            prop_assert_eq!(clean(&once), once.as_str());
        }

        #[test]
        fn words_between_sequences_all_stay(words in prop::collection::vec("[a-z]{1,8}", 1..9)) {
            let coloured = words.iter().map(|word| format!("\u{1b}[32m{word}\u{1b}[0m ")).collect::<Vec<_>>().concat();
            let plain = clean(&coloured).into_owned();
            prop_assert_eq!(plain.trim_end(), words.join(" "));
        }
    }
}
