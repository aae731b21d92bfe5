//! Records as a table of at most 80 columns.

use crate::audit::Entry;

/// Its head.
pub(super) const HEADER: &str =
    "   SEQ  TIME                  VERDICT        EXIT   SECONDS  LANGUAGE  CODE\n";

/// No row is wider.
const WIDTH: usize = 80;

/// The width of the column of languages.
const LANGUAGE: usize = 8;

/// How much of a program's digest is shown: enough to tell programs apart.
const DIGEST: usize = 8;

/// One record.
pub(super) fn row(entry: &Entry) -> String {
    let Entry {
        seq,
        timestamp,
        language,
        code_sha256,
        verdict,
        exit_code,
        duration_seconds,
        line: _,
    } = entry;
    let exit = exit_code.map_or_else(|| "-".to_owned(), |code| code.to_string());
    let (verdict, language) = (verdict.name(), shown(language, LANGUAGE));
    let code = shown(code_sha256, DIGEST);
    let row = format!(
        "{seq:>6}  {timestamp:.0}  {verdict:<13}  {exit:>4}  {duration_seconds:>8.2}  \
         {language:<LANGUAGE$}  {code}"
    );
    // Only numbers that no das wrote make it longer.
    format!("{}\n", &row[..row.len().min(WIDTH)])
}

/// At most so many characters, none of which can break a line.
fn shown(text: &str, most: usize) -> String {
    let plain = text.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' });
    plain.take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Verdict;

    fn entry() -> Entry {
        Entry {
            seq: 12,
            timestamp: "2026-01-02T03:04:05.678Z".parse().unwrap(),
            language: "python".to_owned(),
            code_sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
                .to_owned(),
            verdict: Verdict::Success,
            exit_code: Some(0),
            duration_seconds: 0.1234,
            line: Vec::new(),
        }
    }

    #[test]
    fn rows_stand_under_their_heads() {
        let expected = "    12  2026-01-02T03:04:05Z  success           0      0.12  python    \
                        e3b0c442\n";
        assert_eq!(row(&entry()), expected);
        for (head, word) in [("TIME", "2026"), ("VERDICT", "success"), ("CODE", "e3b0")] {
            assert_eq!(HEADER.find(head), expected.find(word), "{head}");
        }
    }

    #[test]
    fn a_row_is_one_line_of_at_most_80_columns_whatever_the_log_says() {
        let hostile = Entry {
            seq: u64::MAX,
            language: "a\n\u{1b}[2J\u{202e}and so on".to_owned(),
            code_sha256: "\r\n".repeat(100),
            verdict: Verdict::SandboxError,
            exit_code: Some(-100),
            duration_seconds: f64::MAX,
            ..entry()
        };
        let row = row(&hostile);
        assert!(row.trim_end().len() <= 80 && row.is_ascii(), "{row}");
        assert_eq!(row.chars().filter(char::is_ascii_control).count(), 1);
    }
}
