//! The policy's JSON Schema, for editors and for other people's checks.

use serde_json::{Value, json};

use super::SandboxPolicy;
use super::fields::{FIELDS, Field, Kind, Nullable};

/// The JSON Schema (2020-12) that every accepted policy file fits.
pub fn json_schema() -> Value {
    let defaults = serde_json::to_value(SandboxPolicy::default()).expect("a policy is plain data");
    let properties = FIELDS.iter().map(|field| {
        let mut schema = kind_schema(field);
        schema["description"] = json!(field.help);
        schema["default"] = defaults[field.key].clone();
        (field.key.to_owned(), schema)
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "das policy",
        "type": "object",
        "additionalProperties": false,
        "properties": properties.collect::<serde_json::Map<_, _>>(),
    })
}

fn kind_schema(field: &Field) -> Value {
    match field.kind {
        Kind::Whole(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::Fraction(min, max) => json!({"type": "number", "minimum": min, "maximum": max}),
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Choice(words) => json!({"enum": words}),
        Kind::Text(Nullable::No) => json!({"type": "string"}),
        Kind::Text(Nullable::Yes) => json!({"type": ["string", "null"]}),
        Kind::Texts => texts(),
        Kind::Languages => json!({"type": "object", "additionalProperties": {
            "type": "object",
            "additionalProperties": false,
            "required": ["image", "command"],
            "properties": {
                "image": {"type": "string"},
                "command": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "extensions": {"type": "array", "items": {"type": "string"}},
                "env": texts(),
            },
        }}),
        Kind::WorkDir => json!({"type": ["object", "null"],
            "additionalProperties": false,
            "required": ["path"],
            "properties": {"path": {"type": "string"}, "writable": {"type": "boolean"}},
        }),
    }
}

fn texts() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}
