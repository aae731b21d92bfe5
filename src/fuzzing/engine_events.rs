//! What engines and probes print: read with care, line by line.

use serde_json::Value;

use crate::doctor;
use crate::engine::record::Record;
use crate::images::inspect;
use crate::outcome::failure::Failure;
use crate::sweep;
use crate::walls::facts::Facts;

/// Lines that are no event, no container and no line of a probe.
const NOTHING: [&str; 6] = ["", "null", "[]", "{", "\u{fffd}", "{\"Action\":3}"];

/// Takes the input for the output of every command of the engine, and of a probe.
pub fn engine_events(input: &[u8]) {
    record(input);
    facts(input);
    images(input);
    failure(&String::from_utf8_lossy(input));
    sweep::fuzzing::listing(input);
    doctor::fuzzing::answers(input);
}

/// The lines of an output, with lines between them that say nothing.
fn with_nothing_between(input: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut nothing = NOTHING.iter().cycle();
    for line in input.split(|byte| *byte == b'\n') {
        for line in [line, nothing.next().expect("it goes round").as_bytes()] {
            all.extend_from_slice(line);
            all.push(b'\n');
        }
    }
    all
}

/// A record is what its lines say one by one, and nothing that they do not.
fn record(input: &[u8]) {
    let whole = Record::parse(input, "me");
    assert_eq!(Record::parse(&with_nothing_between(input), "me"), whole);
    let mut expected = Record::default();
    for line in input.split(|byte| *byte == b'\n') {
        let alone = Record::parse(line, "me");
        let stranger = Record::parse(line, "somebody else");
        if alone != Record::default() && stranger != Record::default() {
            assert!(!has_labels(line), "one event belongs to two");
        }
        expected = then(expected, alone);
    }
    assert_eq!(whole, expected);
    assert!(!(whole.is_empty() && (whole.ran() || whole.left_behind())), "{whole:?}");
    assert!(!(whole.died.is_some() && whole.left_behind()), "{whole:?}");
    let both = whole.created.is_some() && whole.started.is_some();
    assert_eq!(whole.start_delay().is_some(), both);
    assert_eq!(whole.lifetime().is_some(), whole.started.is_some() && whole.died_at.is_some());
}

fn has_labels(line: &[u8]) -> bool {
    let event: Value = serde_json::from_slice(line).unwrap_or_default();
    event["Actor"]["Attributes"].is_object() || event["Attributes"].is_object()
}

/// What was known before a line and what the line says by itself.
fn then(before: Record, line: Record) -> Record {
    let ended = line.died_at.is_some();
    Record {
        id: before.id.or(line.id),
        created: line.created.or(before.created),
        started: line.started.or(before.started),
        oom: before.oom || line.oom,
        died: if ended { line.died } else { before.died },
        died_at: line.died_at.or(before.died_at),
        destroyed: before.destroyed || line.destroyed,
    }
}

/// A probe's lines are known by the nonce of their run.
fn facts(input: &[u8]) {
    let facts = Facts::parse(input, "nonce");
    assert_eq!(Facts::parse(&with_nothing_between(input), "nonce"), facts);
    for line in input.split(|byte| *byte == b'\n') {
        // What no value can be read from may still have fields that can.
        let value: Option<Value> = serde_json::from_slice(line).ok();
        if value.is_some_and(|value| !has_text(&value, "nonce")) {
            assert_eq!(Facts::parse(line, "nonce"), Facts::default());
        }
    }
}

/// Whether a value holds this text, at whichever place.
fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(it) => it == text,
        Value::Array(items) => items.iter().any(|item| has_text(item, text)),
        Value::Object(members) => members.values().any(|member| has_text(member, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// An image that is not understood does not hide the others.
fn images(input: &[u8]) {
    let Ok(Value::Array(described)) = serde_json::from_slice(input) else {
        return assert_eq!(inspect::parse(input), []);
    };
    let alone =
        |image: &Value| inspect::parse(Value::from(vec![image.clone()]).to_string().as_bytes());
    let one_by_one: Vec<_> = described.iter().flat_map(alone).collect();
    assert_eq!(inspect::parse(input), one_by_one);
    assert!(one_by_one.len() <= described.len());
}

/// The engine's words are told in one line that is short.
fn failure(said: &str) {
    let failure = Failure::of_engine(said);
    let hint = failure.hint("image", "language");
    assert!(hint.chars().count() < 1000, "{hint:?}");
    assert!(!hint.chars().any(char::is_control), "{hint:?}");
    // Words of an engine that could not be asked are no proof that nothing ran.
    if Failure::kept_from_asking(said) {
        assert_ne!(Failure::of_unreachable_engine(said), Failure::EndUnknown);
    }
}
