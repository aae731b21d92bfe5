//! Asks the engine one short question, with a bound.

use std::error::Error;
use std::time::Duration;

use serde_json::Value;

use crate::engine::Engine;

/// How long the engine may take for an answer.
const BOUND: Duration = Duration::from_secs(5);

/// Why there is no answer, in the engine's words or das's own.
#[derive(Debug, Clone)]
pub(super) struct Silence {
    /// What was said instead.
    pub(super) said: String,
    /// What the client printed nevertheless.
    pub(super) printed: String,
}

/// The standard output of a command that succeeds.
pub(super) fn ask(engine: &Engine, args: &[&str]) -> Result<String, Silence> {
    match engine.command(args.iter().copied()).run(BOUND) {
        Ok(finished) if finished.success() => Ok(finished.out()),
        Ok(finished) => Err(Silence { said: finished.err(), printed: finished.out() }),
        Err(error) => Err(Silence { said: chain(&error), printed: String::new() }),
    }
}

/// The JSON that a command prints.
pub(super) fn ask_json(engine: &Engine, command: &str) -> Result<Value, Silence> {
    let printed = ask(engine, &[command, "--format", "{{json .}}"])?;
    serde_json::from_str(&printed)
        .map_err(|error| Silence { said: format!("no JSON in its answer: {error}"), printed })
}

/// An error and its causes, in one line.
pub(super) fn chain(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {}", chain(cause)))
}

/// A text of this JSON, not empty.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str().filter(|text| !text.is_empty())
}
