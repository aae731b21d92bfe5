//! Texts in the quotes of the formats that configuration files are written in.

use std::fmt::Write as _;

/// A JSON string, which is also a YAML one.
pub(super) fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string can be written")
}

/// A TOML basic string: as in JSON, but without a raw DEL.
pub(super) fn toml(text: &str) -> String {
    json(text).replace('\u{7f}', "\\u007f")
}

/// The items in brackets, each quoted by `quote`.
pub(super) fn list(items: &[String], quote: impl Fn(&str) -> String) -> String {
    let items: Vec<_> = items.iter().map(|item| quote(item)).collect();
    format!("[{}]", items.join(", "))
}

/// The words as a shell takes them.
pub(super) fn shell<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for word in words {
        let space = if line.is_empty() { "" } else { " " };
        let quoted = shlex::try_quote(word).expect("no path or flag has a NUL character");
        write!(line, "{space}{quoted}").expect("a string takes everything");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_whatever_a_path_has() {
        let path = "/home/a \"b\"\\c\u{7f}/das";
        assert_eq!(json(path), "\"/home/a \\\"b\\\"\\\\c\u{7f}/das\"");
        assert_eq!(toml(path), "\"/home/a \\\"b\\\"\\\\c\\u007f/das\"");
        assert_eq!(list(&["a".into(), "b c".into()], json), "[\"a\", \"b c\"]");
        assert_eq!(shell(["/home/a b/das", "mcp"]), "'/home/a b/das' mcp");
    }
}
