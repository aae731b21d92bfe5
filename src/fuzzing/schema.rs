//! The rules of JSON Schema that a policy's schema uses, and no others.

use serde_json::{Map, Value};

/// Whether a value fits a schema.
pub(super) fn fits(schema: &Value, value: &Value) -> bool {
    let rules = schema.as_object().expect("a schema is an object");
    rules.iter().all(|(rule, told)| holds(rules, rule, told, value))
}

fn holds(rules: &Map<String, Value>, rule: &str, told: &Value, value: &Value) -> bool {
    match rule {
        "$schema" | "title" | "description" | "default" => true,
        "type" => types(told).any(|name| is_of_type(value, name)),
        "enum" => told.as_array().is_some_and(|words| words.contains(value)),
        "minimum" => value.as_f64() >= told.as_f64(),
        "maximum" => value.as_f64() <= told.as_f64(),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= number(told)),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| fits(told, item))),
        "required" => {
            value.as_object().is_none_or(|object| types(told).all(|key| object.contains_key(key)))
        }
        "properties" | "additionalProperties" => {
            value.as_object().is_none_or(|object| members_fit(rules, object))
        }
        other => panic!("the rule `{other}` is not known here"),
    }
}

/// Whether the members of an object fit the schema that names them, or that for all others.
fn members_fit(rules: &Map<String, Value>, object: &Map<String, Value>) -> bool {
    object.iter().all(|(key, member)| {
        let named = rules.get("properties").and_then(|properties| properties.get(key));
        match (named, rules.get("additionalProperties")) {
            (None, Some(Value::Bool(others))) => *others,
            (Some(schema), _) | (None, Some(schema)) => fits(schema, member),
            (None, None) => true,
        }
    })
}

/// A text, or the texts of an array.
fn types(told: &Value) -> impl Iterator<Item = &str> {
    let listed = told.as_array().into_iter().flatten();
    listed.chain(told.is_string().then_some(told)).filter_map(Value::as_str)
}

fn number(told: &Value) -> u64 {
    told.as_u64().expect("a whole number")
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type `{other}` is not known here"),
    }
}
