//! Reads the arguments of a call: forgiving about form, never granting more than the policy.

use std::time::Duration;

use serde_json::{Map, Value};

use super::Job;
use super::fence::unfence;
use crate::language::DEFAULT_LANGUAGE;
use crate::mcp::text::quoted;
use crate::policy::SandboxPolicy;

/// The shortest timeout that a policy can have, in seconds, is also the shortest for a call.
const SHORTEST_TIMEOUT: f64 = 0.1;

/// Why arguments are refused, told to a model so that its next call is right.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArgumentError {
    #[error("`code` is missing{}: send the complete program as one string", given_instead(.0))]
    NoCode(Vec<String>),
    #[error("`code` must be a string with the complete program, not {0}")]
    CodeKind(String),
    #[error("`code` is empty: send the complete program as one string")]
    Empty,
    #[error("`code` has a NUL character, at byte {0}: write \\0 in a string literal instead")]
    Nul(usize),
    #[error(
        "`code` has {size} bytes and this sandbox takes {max}: send less, or compute the data in the program"
    )]
    TooLong { size: usize, max: u64 },
    #[error("`language` must be one of {offered} (got {given})")]
    Language { given: String, offered: String },
    #[error("this sandbox offers no language at all; ask the user to change its policy")]
    NoLanguage,
    #[error("`timeout_seconds` must be a number of at least {SHORTEST_TIMEOUT} (got {0})")]
    Timeout(String),
}

fn given_instead(keys: &[String]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let keys: Vec<_> = keys.iter().take(5).map(|key| format!("`{}`", quoted(key))).collect();
    format!(" (got {})", keys.join(", "))
}

/// Reads what a call asks for. Unknown arguments are ignored, null is the same as absent.
pub(super) fn read(
    mut arguments: Map<String, Value>,
    policy: &SandboxPolicy,
) -> Result<Job, ArgumentError> {
    arguments.retain(|_, value| !value.is_null());
    let mut notes = Vec::new();
    let written = take_code(&mut arguments)?;
    let (code, info) = match unfence(&written) {
        None => (written, None),
        Some(fenced) => {
            notes.push(
                "the Markdown fence around the code was removed, send plain source".to_owned(),
            );
            (fenced.code.to_owned(), fenced.info.and_then(|info| offered(info, policy)))
        }
    };
    check_code(&code, policy)?;
    let language = match arguments.get("language") {
        Some(given) => named_language(given, policy)?,
        None => info.or_else(|| default_language(policy)).ok_or(ArgumentError::NoLanguage)?,
    };
    let asked = arguments.get("timeout_seconds").map(seconds).transpose()?;
    let timeout_seconds = asked.unwrap_or(policy.timeout_seconds).min(policy.timeout_seconds);
    if let Some(asked) = asked.filter(|asked| *asked > timeout_seconds) {
        notes.push(format!(
            "`timeout_seconds` was reduced from {asked} to {timeout_seconds}, the most that this sandbox grants"
        ));
    }
    Ok(Job { code, language, timeout: Duration::from_secs_f64(timeout_seconds), notes })
}

fn take_code(arguments: &mut Map<String, Value>) -> Result<String, ArgumentError> {
    match arguments.remove("code") {
        Some(Value::String(code)) => Ok(code),
        Some(other) => Err(ArgumentError::CodeKind(shown(&other))),
        None => Err(ArgumentError::NoCode(arguments.keys().cloned().collect())),
    }
}

fn check_code(code: &str, policy: &SandboxPolicy) -> Result<(), ArgumentError> {
    if code.trim().is_empty() {
        return Err(ArgumentError::Empty);
    }
    if let Some(at) = code.find('\0') {
        return Err(ArgumentError::Nul(at));
    }
    let max = policy.max_code_bytes;
    if u64::try_from(code.len()).is_ok_and(|size| size <= max) {
        Ok(())
    } else {
        Err(ArgumentError::TooLong { size: code.len(), max })
    }
}

fn named_language(given: &Value, policy: &SandboxPolicy) -> Result<String, ArgumentError> {
    given.as_str().and_then(|name| offered(name, policy)).ok_or_else(|| ArgumentError::Language {
        given: shown(given),
        offered: policy.offered_languages().join(", "),
    })
}

fn offered(name: &str, policy: &SandboxPolicy) -> Option<String> {
    policy.offered_language(name).map(str::to_owned)
}

/// The language of a call that names none, where the policy offers any.
pub(crate) fn default_language(policy: &SandboxPolicy) -> Option<String> {
    let languages = policy.offered_languages();
    let usual = languages.iter().find(|name| **name == DEFAULT_LANGUAGE);
    usual.or(languages.first()).map(|name| (*name).to_owned())
}

/// Models write numbers as strings at times.
fn seconds(given: &Value) -> Result<f64, ArgumentError> {
    let number = match given {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    number
        .filter(|seconds: &f64| seconds.is_finite() && *seconds >= SHORTEST_TIMEOUT)
        .ok_or_else(|| ArgumentError::Timeout(shown(given)))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::String(text) => format!("\"{}\"", quoted(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(arguments: Value) -> Result<Job, ArgumentError> {
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        read(arguments, &SandboxPolicy::default())
    }

    fn refusal(arguments: Value) -> String {
        job(arguments).unwrap_err().to_string()
    }

    #[test]
    fn code_alone_runs_as_python_for_as_long_as_the_policy_says() {
        let expected = Job {
            code: "print(1)".to_owned(),
            language: "python".to_owned(),
            timeout: Duration::from_secs(10),
            notes: Vec::new(),
        };
        assert_eq!(job(json!({"code": "print(1)"})).unwrap(), expected);
    }

    #[test]
    fn null_is_absent_and_unknown_arguments_are_ignored() {
        let plain = job(json!({"code": "1"})).unwrap();
        let noisy = json!({"code": "1", "language": null, "timeout_seconds": null, "sessionId": "x", "toolCallId": null});
        assert_eq!(job(noisy).unwrap(), plain);
    }

    #[test]
    fn languages_have_aliases_in_any_case() {
        for (given, language) in [
            ("python3", "python"),
            ("PY", "python"),
            (" js ", "node"),
            ("Bash", "shell"),
            ("shell", "shell"),
        ] {
            let job = job(json!({"code": "1", "language": given})).unwrap();
            assert_eq!(job.language, language);
        }
    }

    #[test]
    fn a_language_that_the_policy_adds_goes_before_an_alias() {
        let policy = r#"{"languages": {"bash": {"image": "b", "command": ["bash"]}}}"#;
        let policy = SandboxPolicy::from_json(policy).unwrap();
        let arguments =
            Map::from_iter([("code".into(), "1".into()), ("language".into(), "bash".into())]);
        assert_eq!(read(arguments, &policy).unwrap().language, "bash");
    }

    #[test]
    fn without_python_the_first_language_offered_is_the_default() {
        let policy =
            SandboxPolicy::from_json(r#"{"images": {"shell": "a", "node": "b"}}"#).unwrap();
        assert_eq!(default_language(&policy).as_deref(), Some("node"));
        let none = SandboxPolicy::from_json(r#"{"images": {}}"#).unwrap();
        assert_eq!(default_language(&none), None);
    }

    #[test]
    fn a_timeout_may_be_a_string_and_can_only_shorten() {
        for (given, seconds, noted) in [
            (json!(2), 2.0, false),
            (json!("2.5"), 2.5, false),
            (json!(" 10 "), 10.0, false),
            (json!(0.1), 0.1, false),
            (json!(30), 10.0, true),
            (json!("1e300"), 10.0, true),
        ] {
            let job = job(json!({"code": "1", "timeout_seconds": given})).unwrap();
            assert_eq!(job.timeout, Duration::from_secs_f64(seconds), "{given}");
            assert_eq!(!job.notes.is_empty(), noted, "{given}");
        }
    }

    #[test]
    fn a_reduced_timeout_is_told() {
        assert_eq!(
            job(json!({"code": "1", "timeout_seconds": "30"})).unwrap().notes,
            ["`timeout_seconds` was reduced from 30 to 10, the most that this sandbox grants"]
        );
    }

    #[test]
    fn a_fence_is_removed_and_told_and_may_name_the_language() {
        let job = job(json!({"code": "```sh\nls\n```"})).unwrap();
        assert_eq!((job.code.as_str(), job.language.as_str()), ("ls", "shell"));
        assert_eq!(
            job.notes,
            ["the Markdown fence around the code was removed, send plain source"]
        );
    }

    #[test]
    fn a_named_language_goes_before_that_of_the_fence() {
        let job = job(json!({"code": "```sh\nls\n```", "language": "python"})).unwrap();
        assert_eq!(job.language, "python");
    }

    #[test]
    fn refusals_name_the_argument_the_value_and_what_is_right() {
        for (arguments, hint) in [
            (json!({}), "`code` is missing: send the complete program as one string"),
            (
                json!({"source": "x", "lang": "y"}),
                "`code` is missing (got `lang`, `source`): send the complete program as one string",
            ),
            (json!({"code": null}), "`code` is missing: send the complete program as one string"),
            (json!({"code": 5}), "`code` must be a string with the complete program, not 5"),
            (
                json!({"code": ["a"]}),
                "`code` must be a string with the complete program, not an array",
            ),
            (json!({"code": " \n"}), "`code` is empty: send the complete program as one string"),
            (
                json!({"code": "```\n```"}),
                "`code` is empty: send the complete program as one string",
            ),
            (
                json!({"code": "a\u{0}"}),
                "`code` has a NUL character, at byte 1: write \\0 in a string literal instead",
            ),
            (
                json!({"code": "x".repeat(1_048_577)}),
                "`code` has 1048577 bytes and this sandbox takes 1048576: send less, or compute the data in the program",
            ),
            (
                json!({"code": "1", "language": "cobol"}),
                "`language` must be one of python, node, shell (got \"cobol\")",
            ),
            (
                json!({"code": "1", "language": 3}),
                "`language` must be one of python, node, shell (got 3)",
            ),
            (
                json!({"code": "1", "timeout_seconds": "soon"}),
                "`timeout_seconds` must be a number of at least 0.1 (got \"soon\")",
            ),
            (
                json!({"code": "1", "timeout_seconds": 0}),
                "`timeout_seconds` must be a number of at least 0.1 (got 0)",
            ),
            (
                json!({"code": "1", "timeout_seconds": -1}),
                "`timeout_seconds` must be a number of at least 0.1 (got -1)",
            ),
            (
                json!({"code": "1", "timeout_seconds": true}),
                "`timeout_seconds` must be a number of at least 0.1 (got true)",
            ),
            (
                json!({"code": "1", "timeout_seconds": "inf"}),
                "`timeout_seconds` must be a number of at least 0.1 (got \"inf\")",
            ),
        ] {
            assert_eq!(refusal(arguments), hint);
        }
    }

    #[test]
    fn what_is_quoted_back_is_short() {
        let long = "x".repeat(1 << 20);
        assert!(refusal(json!({"code": "1", "language": &long})).len() < 400);
        let many: Map<_, _> = (0..20).map(|n| (format!("{n}{long}"), json!(1))).collect();
        assert!(refusal(Value::Object(many)).len() < 800);
    }
}
