//! The fenced blocks of the README, and the sessions in them.

use std::fmt::Write as _;

use crate::support::{Language, redact};

/// What a session needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Docker,
}

/// A session of a shell.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) kind: Kind,
    text: &'a str,
}

/// Stands in a script's output behind each command's.
const END: &str = "@@@ end of a command @@@";

/// Every fenced block: what stands behind the first fence, and the text.
pub(super) fn fenced(markdown: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut parts = markdown.split("```");
    parts.next();
    std::iter::from_fn(move || {
        let block = parts.next()?;
        parts.next();
        block.split_once('\n')
    })
}

/// Every session.
pub(super) fn of(markdown: &str) -> impl Iterator<Item = Block<'_>> {
    fenced(markdown).filter_map(|(info, text)| match info {
        "console" => Some(Block { kind: Kind::Plain, text }),
        "console docker" => Some(Block { kind: Kind::Docker, text }),
        _ => None,
    })
}

impl Block<'_> {
    /// Each command with the output that is shown.
    fn steps(&self) -> Vec<(String, String)> {
        let mut steps: Vec<(String, String)> = Vec::new();
        for line in self.text.lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command.to_owned(), String::new())),
                (None, Some((command, _))) if command.ends_with('\\') => {
                    command.push('\n');
                    command.push_str(line);
                }
                (None, Some((_, output))) => {
                    output.push_str(line);
                    output.push('\n');
                }
                (None, None) => panic!("a session begins with a command:\n{}", self.text),
            }
        }
        steps
    }

    /// One script for the whole session, so that `$?` is what it is for a person.
    pub(super) fn script(&self) -> String {
        let mut script = "exec 2>&1\n".to_owned();
        for (command, _) in self.steps() {
            writeln!(script, "{command}\nstatus=$?; echo '{END}'; (exit $status)")
                .expect("a growing text");
        }
        script
    }

    /// Compares what the script printed with what is shown.
    #[track_caller]
    pub(super) fn compare(&self, printed: &str) {
        let end = format!("{END}\n");
        let mut outputs = printed.split(&end);
        for (command, shown) in self.steps() {
            let printed = outputs.next().unwrap_or_default();
            let same = matches(&comparable(&shown), &comparable(printed));
            assert!(same, "$ {command}\nshown:\n{shown}\nprinted:\n{printed}");
        }
    }
}

/// Without what differs from run to run, and from image to image.
fn comparable(text: &str) -> Vec<String> {
    let mut text = redact(text);
    text = text.replace(env!("CARGO_BIN_EXE_das"), "/home/you/.cargo/bin/das");
    for language in Language::ALL {
        text = text.replace(&language.image(), language.default_image());
    }
    text.lines().map(|line| redact_values(line.trim_end())).collect()
}

/// Their values differ from run to run.
const NAMES: [&str; 6] = [
    "duration_seconds\":",
    "timeout_seconds\":",
    "run_id\":",
    "code_sha256\":",
    "timestamp\":",
    ".expires=",
];

/// Without the values of these names, up to the end of the word, and without how long an image took to make.
fn redact_values(line: &str) -> String {
    if let Some((made, _)) =
        line.strip_prefix("[sandbox] made from ").and_then(|it| it.split_once(" in "))
    {
        return format!("[sandbox] made from {made}");
    }
    let mut line = line.to_owned();
    for name in NAMES {
        if let Some((before, after)) = line.split_once(name) {
            let end = after.find([',', '}', ' ']).unwrap_or(after.len());
            line = format!("{before}{name}[VALUE]{}", &after[end..]);
        }
    }
    line
}

/// Whether lines are as shown, where `...` is any number of lines.
fn matches(shown: &[String], printed: &[String]) -> bool {
    match (shown.first().map(String::as_str), printed.first()) {
        (Some("..."), _) => {
            (0..=printed.len()).any(|skipped| matches(&shown[1..], &printed[skipped..]))
        }
        (Some(line), Some(other)) => line == other && matches(&shown[1..], &printed[1..]),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

#[test]
fn a_session_is_read_step_by_step() {
    let block = Block { kind: Kind::Plain, text: "$ a \\\n  b\nx\n$ c\n" };
    let steps = block.steps();
    assert_eq!(steps[0], ("a \\\n  b".to_owned(), "x\n".to_owned()));
    assert_eq!(steps[1], ("c".to_owned(), String::new()));
}

#[test]
fn only_what_is_shown_matches() {
    let lines = |text: &str| comparable(text);
    assert!(matches(&lines("a\n...\nd\n"), &lines("a\nb\nc\nd\n")));
    assert!(matches(&lines("in 0.41s"), &lines("in 1.07s")));
    assert!(!matches(&lines("a\n...\nd\n"), &lines("a\nb\nc\n")));
    assert!(!matches(&lines("a"), &lines("a\nb")));
}
