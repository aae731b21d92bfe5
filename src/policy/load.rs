//! Reads a policy from JSON, with errors that name the key, the value and what is allowed.

use serde_json::{Map, Value};

use super::SandboxPolicy;
use super::check::{PolicyError, grammar, keys, nearest};
use super::fields::{FIELDS, Field, Kind, LANGUAGE_KEYS, Nullable, WORK_DIR_KEYS};

impl SandboxPolicy {
    /// Reads a policy. Keys that are absent keep their defaults; a key that is there replaces
    /// its default whole.
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| PolicyError::NotAnObject(Some(error)))?;
        let Value::Object(object) = &value else { return Err(PolicyError::NotAnObject(None)) };
        check_keys("", object, keys)?;
        for field in &FIELDS {
            if let Some(given) = object.get(field.key) {
                check_kind(field, given)?;
            }
        }
        let policy: Self = serde_path_to_error::deserialize(&value)
            .map_err(|error| grammar(error.path().to_string(), &error.inner().to_string()))?;
        policy.check()?;
        Ok(policy)
    }

    /// The policy as JSON, as a policy file would have it.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a policy is plain data");
        text.push('\n');
        text
    }
}

fn check_keys<I: Iterator<Item = &'static str>>(
    prefix: &str,
    object: &Map<String, Value>,
    known: impl Fn() -> I,
) -> Result<(), PolicyError> {
    match object.keys().find(|key| !known().any(|candidate| candidate == key.as_str())) {
        None => Ok(()),
        Some(key) => Err(PolicyError::UnknownKey {
            path: format!("{prefix}{key}"),
            nearest: nearest(key, known()),
        }),
    }
}

/// Checks the JSON type and, of numbers, the range, before serde sees the value: its own
/// messages speak of Rust's types.
fn check_kind(field: &Field, given: &Value) -> Result<(), PolicyError> {
    let fits = match (field.kind, given) {
        (Kind::Whole(..), Value::Number(number)) => {
            number.is_u64() && number.as_f64().is_some_and(|number| field.kind.holds(number))
        }
        (Kind::Fraction(..), Value::Number(number)) => {
            number.as_f64().is_some_and(|number| field.kind.holds(number))
        }
        (Kind::Switch, Value::Bool(_))
        | (Kind::Text(_), Value::String(_))
        | (Kind::Text(Nullable::Yes) | Kind::WorkDir, Value::Null) => true,
        (Kind::Choice(words), Value::String(word)) => words.contains(&word.as_str()),
        (Kind::Texts, Value::Object(texts)) => texts.values().all(Value::is_string),
        (Kind::Languages, Value::Object(rows)) => return check_rows(field.key, rows),
        (Kind::WorkDir, Value::Object(object)) => {
            return check_keys(&format!("{}.", field.key), object, || WORK_DIR_KEYS.into_iter());
        }
        _ => false,
    };
    if fits { Ok(()) } else { Err(misfit(field.key, &field.kind.expectation(), given)) }
}

fn check_rows(key: &str, rows: &Map<String, Value>) -> Result<(), PolicyError> {
    for (name, row) in rows {
        let path = format!("{key}.{name}");
        let Value::Object(row) = row else {
            let example =
                r#"an object such as {"image": "ruby:3.3-slim", "command": ["ruby", "-"]}"#;
            return Err(misfit(&path, example, row));
        };
        check_keys(&format!("{path}."), row, || LANGUAGE_KEYS.into_iter())?;
    }
    Ok(())
}

fn misfit(key: &str, expected: &str, given: &Value) -> PolicyError {
    PolicyError::Value {
        key: key.to_owned(),
        expected: expected.to_owned(),
        value: given.to_string(),
    }
}
