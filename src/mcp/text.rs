//! Text from outside, cut so that it can be quoted back.

/// The most characters that are quoted of anything a client sent.
const QUOTED_CHARS: usize = 100;

/// `text`, cut short where it is long, control characters replaced.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted: String = text
        .chars()
        .take(QUOTED_CHARS)
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if text.chars().nth(QUOTED_CHARS).is_some() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_short_and_printable() {
        assert_eq!(quoted("run\u{1b}[2Jme\n"), "run\u{fffd}[2Jme\u{fffd}");
        assert_eq!(quoted(&"é".repeat(100)), "é".repeat(100));
        assert_eq!(quoted(&"é".repeat(101)), format!("{}…", "é".repeat(100)));
    }
}
