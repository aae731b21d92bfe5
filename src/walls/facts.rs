//! What a probe printed, read line by line.
//!
//! A probe prints one JSON object a line, each with the nonce of its run. Whatever else is on its
//! output (words of the image, garbage) is passed over, and so a probe that says nothing proves
//! nothing.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What one run told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    lists: BTreeMap<String, Vec<String>>,
    tries: BTreeMap<String, Try>,
    complete: bool,
}

/// Something that a probe tried, and what the kernel answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Try {
    /// What was tried.
    pub tried: String,
    /// What came of it.
    pub answer: Answer,
}

/// What came of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It was possible.
    Allowed(String),
    /// It was not, for this reason.
    Refused(String),
}

/// One line of a probe.
#[derive(Debug, Deserialize)]
struct Printed {
    das: String,
    of: String,
    line: Option<String>,
    tried: Option<String>,
    allowed: Option<String>,
    refused: Option<String>,
}

/// The name of the line that a probe prints last.
const END: &str = "end";

/// More lines than any honest probe prints are not kept.
const MOST_LINES: usize = 20_000;

impl Facts {
    /// Reads what a run with this nonce printed.
    pub fn parse(output: &[u8], nonce: &str) -> Self {
        let lines = output.split(|&byte| byte == b'\n');
        let parsed = lines.filter_map(|line| serde_json::from_slice::<Printed>(line).ok());
        let mut facts = Self::default();
        for line in parsed.filter(|line| line.das == nonce).take(MOST_LINES) {
            facts.note(line);
        }
        facts
    }

    fn note(&mut self, printed: Printed) {
        let Printed { das: _, of, line, tried, allowed, refused } = printed;
        let answer = allowed.map(Answer::Allowed).or(refused.map(Answer::Refused));
        match (tried, answer, line) {
            (Some(tried), Some(answer), _) => {
                self.tries.insert(of, Try { tried, answer });
            }
            (_, _, Some(line)) => self.lists.entry(of).or_default().push(line),
            (..) if of == END => self.complete = true,
            // The list is there, and empty.
            (..) => {
                self.lists.entry(of).or_default();
            }
        }
    }

    /// Whether the probe came to its end.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// The lines of a list, if the probe could make it.
    pub fn list(&self, name: &str) -> Option<&[String]> {
        self.lists.get(name).map(Vec::as_slice)
    }

    /// The first line of a list.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.list(name)?.first().map(|line| line.trim())
    }

    /// What came of a try.
    pub fn attempt(&self, name: &str) -> Option<&Try> {
        self.tries.get(name)
    }

    /// The value of a field in a list of `Name: value` lines.
    pub fn field(&self, list: &str, name: &str) -> Option<&str> {
        let lines = self.list(list)?.iter();
        let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        values.next().map(str::trim)
    }
}

impl Try {
    /// As evidence: what was tried and what came of it.
    pub fn told(&self) -> String {
        let (Answer::Allowed(answer) | Answer::Refused(answer)) = &self.answer;
        format!("{}: {answer}", self.tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_the_nonce_of_the_run_count() {
        let output = br#"{"das":"n","of":"a","line":"1"}
{"das":"other","of":"a","line":"2"}
not json
{"das":"n","of":"a","line":"3"}
{"das":"n","of":"t","tried":"x","refused":"no"}
{"das":"n","of":"empty"}"#;
        let facts = Facts::parse(output, "n");
        assert_eq!(facts.list("a"), Some(&["1".to_owned(), "3".to_owned()][..]));
        assert_eq!(facts.attempt("t").unwrap().told(), "x: no");
        assert_eq!((facts.list("empty"), facts.list("none")), (Some(&[][..]), None));
        assert!(!facts.complete());
    }

    #[test]
    fn a_probe_that_comes_to_its_end_says_so() {
        assert!(Facts::parse(br#"{"das":"n","of":"end"}"#, "n").complete());
    }

    #[test]
    fn garbage_tells_nothing() {
        for garbage in [&b""[..], b"{", b"\xff\xfe\n[]", br#"{"das":5,"of":"end"}"#] {
            assert_eq!(Facts::parse(garbage, "n"), Facts::default(), "{garbage:?}");
        }
    }
}
