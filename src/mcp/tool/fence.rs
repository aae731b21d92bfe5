//! Removes the Markdown fence that models like to put around code.

/// Code that stood in a fence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fenced<'a> {
    /// What stood between the fence's lines.
    pub(super) code: &'a str,
    /// The first word after the opening fence; perhaps the language.
    pub(super) info: Option<&'a str>,
}

/// The inside of the one fence that encloses the whole text, if one does.
pub(super) fn unfence(text: &str) -> Option<Fenced<'_>> {
    let (opening, rest) = text.trim().split_once('\n')?;
    let (mark, info) = split_mark(opening)?;
    let (code, closing) = rest.rsplit_once('\n').unwrap_or(("", rest));
    let (closing_mark, after) = split_mark(closing.trim_start())?;
    let closes = closing_mark.starts_with(mark) && after.is_empty();
    closes.then(|| Fenced { code, info: info.split_whitespace().next() })
}

/// Splits a line into its fence mark, three or more of one kind, and what follows.
fn split_mark(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end();
    let kind = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(kind);
    let mark = &line[..line.len() - info.len()];
    (mark.len() >= 3 && !info.contains('`')).then_some((mark, info))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<&str> {
        unfence(text).map(|fenced| fenced.code)
    }

    #[test]
    fn one_fence_around_everything_is_removed() {
        assert_eq!(
            unfence("\n```python\nprint(1)\nprint(2)\n```\n"),
            Some(Fenced { code: "print(1)\nprint(2)", info: Some("python") })
        );
        assert_eq!(unfence("~~~\nls\n~~~"), Some(Fenced { code: "ls", info: None }));
        assert_eq!(code("```js title=\"a\"\r\n1\r\n```\r\n"), Some("1\r"));
        assert_eq!(code("````\n```\n````"), Some("```"));
        assert_eq!(code("```\n```"), Some(""));
    }

    #[test]
    fn a_fence_within_the_code_stays() {
        assert_eq!(code("```\na = '''\n```\nx\n```\n'''\n```"), Some("a = '''\n```\nx\n```\n'''"));
    }

    #[test]
    fn what_no_fence_encloses_is_left_alone() {
        for text in [
            "print(1)",
            "``\nx\n``",
            "```\nx",
            "x\n```",
            "```\nx\n``` y",
            "```x``` \n```",
            "````\nx\n```",
        ] {
            assert_eq!(code(text), None, "{text:?}");
        }
    }
}
