//! Reads records back, and picks those that somebody asks for.
//!
//! A log may have been edited: every field is checked, and what is no record is only counted.

use std::collections::VecDeque;
use std::io::{self, Read};

use serde::{Deserialize, Deserializer};

use super::chain::Link;
use super::lines::Lines;
use crate::outcome::Verdict;

/// What is shown of a record.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Entry {
    /// Its number in its chain.
    pub seq: u64,
    /// When its run was over.
    #[serde(deserialize_with = "timestamp")]
    pub timestamp: jiff::Timestamp,
    /// The language; any text.
    pub language: String,
    /// The SHA-256 of the program.
    pub code_sha256: String,
    /// How the run ended.
    pub verdict: Verdict,
    /// The program's exit code.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub duration_seconds: f64,
    /// The line as it is in the log, without its line feed; any bytes that are valid JSON.
    #[serde(skip)]
    pub line: Vec<u8>,
}

/// Which records are wanted. The default wants all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// With one of these verdicts, if there are any.
    pub verdicts: Vec<Verdict>,
    /// In one of these languages, if there are any.
    pub languages: Vec<String>,
    /// Of the program with this SHA-256.
    pub code_sha256: Option<String>,
    /// Not before this time.
    pub since: Option<jiff::Timestamp>,
    /// Before this time.
    pub until: Option<jiff::Timestamp>,
}

/// How many of the wanted records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// All of them, given out one by one.
    All,
    /// The last so many.
    Last(usize),
}

impl Entry {
    /// Reads one line of a log.
    fn of(line: Vec<u8>) -> Option<Self> {
        Link::of(&line)?;
        let entry: Self = serde_json::from_slice(&line).ok()?;
        Some(Self { line, ..entry })
    }
}

fn timestamp<'de, D: Deserializer<'de>>(deserializer: D) -> Result<jiff::Timestamp, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

impl Filter {
    fn wants(&self, entry: &Entry) -> bool {
        let Self { verdicts, languages, code_sha256, since, until } = self;
        (verdicts.is_empty() || verdicts.contains(&entry.verdict))
            && (languages.is_empty() || languages.contains(&entry.language))
            && code_sha256.as_ref().is_none_or(|wanted| *wanted == entry.code_sha256)
            && since.is_none_or(|since| entry.timestamp >= since)
            && until.is_none_or(|until| entry.timestamp < until)
    }
}

/// Gives every wanted record of the files to `give`, in their order. Returns how many lines are no
/// records.
pub fn select<E: From<io::Error>>(
    files: impl IntoIterator<Item = impl Read>,
    filter: &Filter,
    kept: Kept,
    mut give: impl FnMut(Entry) -> Result<(), E>,
) -> Result<u64, E> {
    let (mut others, mut last) = (0, VecDeque::new());
    for line in files.into_iter().flat_map(Lines::new) {
        let entry = line?.bytes.and_then(Entry::of);
        match (entry, kept) {
            (None, _) => others += 1,
            (Some(entry), _) if !filter.wants(&entry) => {}
            (Some(entry), Kept::All) => give(entry)?,
            (Some(entry), Kept::Last(most)) => {
                last.push_back(entry);
                if last.len() > most {
                    last.pop_front();
                }
            }
        }
    }
    last.into_iter().try_for_each(give)?;
    Ok(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64, hour: u64, verdict: &str, language: &str) -> String {
        format!(
            "{{\"timestamp\":\"2026-01-02T{hour:02}:00:00.000Z\",\"language\":\"{language}\",\
             \"code_sha256\":\"{seq}\",\"exit_code\":null,\"verdict\":\"{verdict}\",\
             \"duration_seconds\":0.5,\"seq\":{seq},\"prev_sha256\":\"{}\"}}\n",
            "0".repeat(64)
        )
    }

    fn log() -> String {
        [
            line(1, 1, "success", "python"),
            line(2, 2, "timeout", "shell"),
            "torn\n".to_owned(),
            line(4, 4, "success", "node"),
            line(5, 5, "unheard_of", "node"),
        ]
        .concat()
    }

    fn selected(filter: &Filter, kept: Kept) -> (Vec<u64>, u64) {
        let mut found = Vec::new();
        let others = select([log().as_bytes()], filter, kept, |entry| {
            found.push(entry.seq);
            Ok::<_, io::Error>(())
        });
        (found, others.unwrap())
    }

    #[test]
    fn all_records_are_wanted_by_default_and_other_lines_are_counted() {
        assert_eq!(selected(&Filter::default(), Kept::All), (vec![1, 2, 4], 2));
        assert_eq!(selected(&Filter::default(), Kept::Last(2)).0, [2, 4]);
        assert_eq!(selected(&Filter::default(), Kept::Last(0)).0, [0; 0]);
    }

    #[test]
    fn each_filter_narrows() {
        let by = |filter: Filter| selected(&filter, Kept::All).0;
        let success = vec![Verdict::Success];
        assert_eq!(by(Filter { verdicts: success.clone(), ..Filter::default() }), [1, 4]);
        let languages = vec!["node".to_owned(), "shell".to_owned()];
        assert_eq!(by(Filter { languages: languages.clone(), ..Filter::default() }), [2, 4]);
        let both = Filter { verdicts: success, languages, ..Filter::default() };
        assert_eq!(by(both), [4]);
        let code_sha256 = Some("2".to_owned());
        assert_eq!(by(Filter { code_sha256, ..Filter::default() }), [2]);
        let at = |hour: u32| format!("2026-01-02T{hour:02}:00:00Z").parse().ok();
        assert_eq!(by(Filter { since: at(2), until: at(4), ..Filter::default() }), [2]);
    }

    #[test]
    fn a_record_keeps_its_line_as_it_is() {
        let text = line(1, 1, "success", "python");
        let entry = Entry::of(text.trim_end().as_bytes().to_vec()).unwrap();
        assert_eq!(entry.line, text.trim_end().as_bytes());
    }
}
