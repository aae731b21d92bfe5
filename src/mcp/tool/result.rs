//! What a call is answered: the same facts as plain text, for clients that show only that, and
//! as structured content, for clients that show only this.

use std::error::Error;

use serde::Serialize;

use super::budget::{Fit, Kept, fit};
use super::clean::clean;
use crate::sandbox::RunError;
use crate::{Outcome, Verdict};

/// The verdict of a call that ran nothing because of its arguments.
pub(super) const INVALID_INPUT: &str = "invalid_input";

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallResult {
    pub(crate) text: String,
    pub(crate) structured: Structured,
}

/// The facts, in the order in which models read them. It always fits the output schema.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Structured {
    verdict: &'static str,
    /// −1 where there is none.
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    stdout: String,
    stderr: String,
    duration_seconds: f64,
    timed_out: bool,
    truncated: bool,
}

impl CallResult {
    /// What an outcome is told as, in at most `total` bytes of output. The notes say what else
    /// the caller should know.
    pub(super) fn of(outcome: &Outcome, notes: &[String], total: usize) -> Self {
        let (out, err) = (outcome.stdout.text(), outcome.stderr.text());
        let (out, err) = (clean(&out), clean(&err));
        let stdout = Kept { text: &out, omitted: outcome.stdout.omitted() };
        let stderr = Kept { text: &err, omitted: outcome.stderr.omitted() };
        let (stdout, stderr, fitted) = fit(stdout, stderr, total);
        let hint = outcome.hint.iter().map(|hint| addressed(outcome.verdict, hint));
        let hints: Vec<_> = hint.chain(notes.iter().cloned()).collect();
        Self::new(Structured {
            verdict: outcome.verdict.name(),
            exit_code: outcome.exit_code.unwrap_or(-1),
            hint: (!hints.is_empty()).then(|| hints.join("; ")),
            stdout,
            stderr,
            duration_seconds: outcome.duration_seconds(),
            timed_out: outcome.timed_out(),
            truncated: outcome.truncated() || fitted == Fit::Cut,
        })
    }

    /// Nothing ran, because of the arguments.
    pub(super) fn invalid_input(hint: String) -> Self {
        Self::without_run(INVALID_INPUT, hint)
    }

    /// Nothing ran, because it could not have been recorded or the policy does not hold.
    pub(super) fn nothing_ran(error: &RunError) -> Self {
        let hint = addressed(Verdict::SandboxError, &with_causes(error));
        Self::without_run(Verdict::SandboxError.name(), hint)
    }

    fn without_run(verdict: &'static str, hint: String) -> Self {
        Self::new(Structured {
            verdict,
            exit_code: -1,
            hint: Some(hint),
            stdout: String::new(),
            stderr: String::new(),
            duration_seconds: 0.0,
            timed_out: false,
            truncated: false,
        })
    }

    fn new(structured: Structured) -> Self {
        Self { text: text(&structured), structured }
    }

    /// Whether it is anything but success.
    pub(crate) fn is_error(&self) -> bool {
        self.structured.verdict != Verdict::Success.name()
    }
}

fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        None => error.to_string(),
        Some(cause) => format!("{error}: {}", with_causes(cause)),
    }
}

/// A model that is told of a failed sandbox must not go and change its code.
fn addressed(verdict: Verdict, hint: &str) -> String {
    match verdict {
        Verdict::SandboxError => format!("this is no fault of the code, ask the user: {hint}"),
        Verdict::Success
        | Verdict::Error
        | Verdict::Timeout
        | Verdict::OutOfMemory
        | Verdict::CannotStart
        | Verdict::Cancelled => hint.to_owned(),
    }
}

/// The answer as a model reads it best: of a success that only printed, what it printed.
fn text(facts: &Structured) -> String {
    let mut parts = Vec::new();
    let plain_success = facts.verdict == Verdict::Success.name() && facts.stderr.is_empty();
    if plain_success && facts.stdout.is_empty() {
        parts.push("(no output) exit 0".to_owned());
    } else if plain_success {
        parts.push(facts.stdout.clone());
    } else {
        parts.push(headline(facts));
        parts.extend(section("stdout", &facts.stdout));
        parts.extend(section("stderr", &facts.stderr));
    }
    parts.extend(facts.hint.as_ref().map(|hint| format!("hint: {hint}")));
    joined(&parts)
}

/// `exit 1 · 0.4 s`; of other verdicts than success and error, their name first.
fn headline(facts: &Structured) -> String {
    if facts.verdict == INVALID_INPUT {
        return INVALID_INPUT.to_owned();
    }
    let told_by_the_code = [Verdict::Success.name(), Verdict::Error.name()];
    let name = (!told_by_the_code.contains(&facts.verdict)).then(|| facts.verdict.to_owned());
    let exit = (facts.exit_code >= 0).then(|| format!("exit {}", facts.exit_code));
    let seconds = format!("{:.1} s", facts.duration_seconds);
    name.into_iter().chain(exit).chain([seconds]).collect::<Vec<_>>().join(" · ")
}

fn section(name: &str, text: &str) -> Option<String> {
    (!text.is_empty()).then(|| format!("{name}:\n{text}"))
}

/// Each part begins on a line of its own; no line is added where there is one already.
fn joined(parts: &[String]) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::audit::AuditError;
    use crate::mcp::tool::test_outcome::{captured, test_outcome};

    fn outcome(verdict: Verdict, exit_code: i32, stdout: &str, stderr: &str) -> Outcome {
        Outcome {
            exit_code: Some(exit_code),
            duration: Duration::from_micros(412_340),
            stdout: captured(stdout),
            stderr: captured(stderr),
            ..test_outcome(verdict)
        }
    }

    fn told(outcome: &Outcome) -> CallResult {
        CallResult::of(outcome, &[], 1000)
    }

    #[test]
    fn a_success_is_told_by_its_output_alone() {
        let result = told(&outcome(Verdict::Success, 0, "45\n", ""));
        assert_eq!(result.text, "45\n");
        assert!(!result.is_error());
    }

    #[test]
    fn a_success_without_output_still_says_something() {
        assert_eq!(told(&outcome(Verdict::Success, 0, "", "")).text, "(no output) exit 0");
    }

    #[test]
    fn whatever_is_more_than_output_gets_a_headline_and_sections() {
        for (outcome, text) in [
            (outcome(Verdict::Success, 0, "a", "w\n"), "exit 0 · 0.4 s\nstdout:\na\nstderr:\nw\n"),
            (outcome(Verdict::Error, 3, "", "boom\n"), "exit 3 · 0.4 s\nstderr:\nboom\n"),
            (
                Outcome { exit_code: None, ..outcome(Verdict::Timeout, 0, "a\n", "") },
                "timeout · 0.4 s\nstdout:\na\n",
            ),
            (outcome(Verdict::OutOfMemory, 137, "", ""), "out_of_memory · exit 137 · 0.4 s"),
            (outcome(Verdict::CannotStart, 127, "", ""), "cannot_start · exit 127 · 0.4 s"),
            (
                Outcome { exit_code: None, ..outcome(Verdict::SandboxError, 0, "", "") },
                "sandbox_error · 0.4 s",
            ),
        ] {
            let result = told(&outcome);
            assert_eq!(result.text, text);
            assert_eq!(result.is_error(), result.structured.verdict != "success");
        }
    }

    #[test]
    fn the_hint_and_the_notes_are_the_last_line_of_the_text_and_a_fact() {
        let outcome =
            Outcome { hint: Some("use less".to_owned()), ..outcome(Verdict::Error, 1, "a", "") };
        let result = CallResult::of(&outcome, &["fence removed".to_owned()], 1000);
        assert!(result.text.ends_with("\nhint: use less; fence removed"));
        assert_eq!(result.structured.hint.as_deref(), Some("use less; fence removed"));
    }

    #[test]
    fn facts_are_in_the_order_in_which_models_read_them() {
        let result =
            told(&Outcome { hint: Some("H".to_owned()), ..outcome(Verdict::Error, 2, "a", "b") });
        assert_eq!(
            serde_json::to_string(&result.structured).unwrap(),
            r#"{"verdict":"error","exit_code":2,"hint":"H","stdout":"a","stderr":"b","duration_seconds":0.412,"timed_out":false,"truncated":false}"#
        );
    }

    #[test]
    fn refused_arguments_are_told_like_any_other_answer() {
        let result = CallResult::invalid_input("`code` is missing.".to_owned());
        assert_eq!(result.text, "invalid_input\nhint: `code` is missing.");
        assert!(result.is_error());
        assert_eq!(
            serde_json::to_string(&result.structured).unwrap(),
            r#"{"verdict":"invalid_input","exit_code":-1,"hint":"`code` is missing.","stdout":"","stderr":"","duration_seconds":0.0,"timed_out":false,"truncated":false}"#
        );
    }

    #[test]
    fn a_failed_sandbox_is_for_the_user_to_mend() {
        let hint = Some("no docker in PATH; install it".to_owned());
        let result =
            told(&Outcome { hint, exit_code: None, ..outcome(Verdict::SandboxError, 0, "", "") });
        assert_eq!(
            result.text,
            "sandbox_error · 0.4 s\nhint: this is no fault of the code, ask the user: no docker in PATH; install it"
        );
    }

    #[test]
    fn a_run_that_could_not_be_recorded_is_told_with_all_its_causes() {
        let source = std::io::Error::other("disk full");
        let error = RunError::Audit(AuditError::Open { path: "/a".into(), source });
        let result = CallResult::nothing_ran(&error);
        assert!(result.is_error());
        assert!(
            result.text.ends_with("cannot open the audit log `/a`: disk full"),
            "{}",
            result.text
        );
    }

    #[test]
    fn output_is_cleaned_and_cut_in_both_forms_alike() {
        let result = told(&outcome(Verdict::Success, 0, &"\u{1b}[1mx\u{1b}[0m".repeat(2000), ""));
        assert!(result.structured.truncated);
        assert_eq!(result.text, result.structured.stdout);
        assert!(result.text.starts_with("xxx") && result.text.contains("omitted"));
    }
}
