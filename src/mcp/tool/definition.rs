//! The tool as `tools/list` tells it: its name, its schemas, and how dangerous it is.

use serde_json::{Map, Value, json};

use super::arguments::default_language;
use super::description::description;
use super::result::INVALID_INPUT;
use crate::mcp::protocol::Version;
use crate::outcome::VERDICTS;
use crate::policy::SandboxPolicy;

/// The name of the one tool.
pub(crate) const TOOL_NAME: &str = "run_code";

const TITLE: &str = "Run code in a sandbox";

/// The most characters of a result that the clients which heed it are asked to show whole.
const LARGEST_RESULT: u64 = 500_000;

/// The tool as the clients of a version may see it.
///
/// The schemas are flat and name no dialect: some gateways and clients refuse `$schema`,
/// `$ref`, `anyOf` and lists of types.
pub(super) fn definition(policy: &SandboxPolicy, version: Version) -> Value {
    let mut tool = json!({
        "name": TOOL_NAME,
        "description": description(policy),
        "inputSchema": input_schema(policy),
    });
    if version.has_annotations() {
        tool["annotations"] = annotations(policy);
    }
    if version.has_titles() {
        tool["title"] = json!(TITLE);
    }
    if version.has_structured_content() {
        tool["outputSchema"] = output_schema();
    }
    if version.has_titles() && policy.max_output_bytes > SandboxPolicy::default().max_output_bytes {
        // Some clients cut results at a size that suits the default policy, and can be told.
        let size = policy.max_output_bytes.saturating_mul(2).min(LARGEST_RESULT);
        tool["_meta"] = json!({"anthropic/maxResultSizeChars": size});
    }
    tool
}

/// What is not said is taken for the worst, so all is said, and only what is true.
fn annotations(policy: &SandboxPolicy) -> Value {
    json!({
        "title": TITLE,
        "readOnlyHint": false,
        "destructiveHint": policy.work_dir.as_ref().is_some_and(|work| work.writable),
        "idempotentHint": false,
        "openWorldHint": policy.network,
    })
}

fn input_schema(policy: &SandboxPolicy) -> Value {
    json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The complete program, as plain source without Markdown fences."},
            "language": language_schema(policy),
            "timeout_seconds": {
                "type": "number",
                "description": format!(
                    "Stop the program after so many seconds. At most {0}; {0} if left out.",
                    policy.timeout_seconds
                ),
            },
        },
        "required": ["code"],
    })
}

fn language_schema(policy: &SandboxPolicy) -> Value {
    let mut schema = json!({"type": "string", "description": "The language of the program."});
    // An empty enum would be no valid schema, and there is no default without a language.
    if let Some(default) = default_language(policy) {
        schema["enum"] = json!(policy.offered_languages());
        schema["default"] = json!(default);
    }
    schema
}

fn output_schema() -> Value {
    let names = VERDICTS.map(|(_, name, ..)| name);
    let verdicts: Vec<_> = names.into_iter().chain([INVALID_INPUT]).collect();
    let properties = json!({
        "verdict": {"type": "string", "enum": verdicts, "description": "What happened, in one word."},
        "exit_code": {"type": "integer", "description": "The program's exit code, -1 if there is none."},
        "hint": {"type": "string", "description": "What to do about it."},
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "duration_seconds": {"type": "number"},
        "timed_out": {"type": "boolean"},
        "truncated": {"type": "boolean", "description": "Whether output was left out."},
    });
    let required = properties.as_object().map(required_keys).unwrap_or_default();
    json!({"type": "object", "properties": properties, "required": required})
}

fn required_keys(properties: &Map<String, Value>) -> Vec<&String> {
    properties.keys().filter(|key| *key != "hint").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(policy: &str, version: Version) -> Value {
        definition(&SandboxPolicy::from_json(policy).unwrap(), version)
    }

    #[test]
    fn each_version_sees_the_fields_that_it_has() {
        for (version, fields) in [
            (Version::V2024_11_05, &["description", "inputSchema", "name"][..]),
            (Version::V2025_03_26, &["annotations", "description", "inputSchema", "name"]),
            (
                Version::V2025_06_18,
                &["annotations", "description", "inputSchema", "name", "outputSchema", "title"],
            ),
            (
                Version::V2026_07_28,
                &["annotations", "description", "inputSchema", "name", "outputSchema", "title"],
            ),
        ] {
            let tool = defined("{}", version);
            assert_eq!(tool.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
        }
    }

    #[test]
    fn annotations_are_as_true_as_the_policy() {
        let hints = |policy: &str| defined(policy, Version::V2025_11_25)["annotations"].clone();
        let strict = json!({"title": TITLE, "readOnlyHint": false, "destructiveHint": false,
            "idempotentHint": false, "openWorldHint": false});
        assert_eq!(hints("{}"), strict);
        assert_eq!(hints(r#"{"network": true}"#)["openWorldHint"], true);
        let work =
            |writable| format!(r#"{{"work_dir": {{"path": "/srv", "writable": {writable}}}}}"#);
        assert_eq!(hints(&work("true"))["destructiveHint"], true);
        assert_eq!(hints(&work("false"))["destructiveHint"], false);
    }

    /// Calls `visit` with each key of each object in `schema` and its value.
    fn walk(schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
        match schema {
            Value::Object(members) => members.iter().for_each(|(key, value)| {
                visit(key, value);
                walk(value, visit);
            }),
            Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn the_schemas_have_nothing_that_a_client_is_known_to_refuse() {
        let tool = defined("{}", Version::V2026_07_28);
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object");
            walk(&tool[schema], &mut |key, value| {
                assert!(!["$schema", "$ref", "anyOf", "oneOf", "allOf"].contains(&key), "{key}");
                assert!(key != "type" || value.is_string() || value.is_object(), "{value}");
                assert!(key != "additionalProperties", "extras are ignored, not refused");
            });
        }
    }

    #[test]
    fn the_languages_are_those_of_the_policy() {
        let policy = r#"{"images": {"shell": "a"}, "languages": {"ruby": {"image": "r", "command": ["ruby"]}}}"#;
        let language =
            &defined(policy, Version::V2025_11_25)["inputSchema"]["properties"]["language"];
        assert_eq!(language["enum"], json!(["shell", "ruby"]));
        assert_eq!(language["default"], "shell");
        let none = &defined(r#"{"images": {}}"#, Version::V2025_11_25)["inputSchema"]["properties"]
            ["language"];
        assert_eq!(none.get("enum"), None);
    }

    #[test]
    fn a_policy_that_keeps_more_output_asks_the_client_to_show_it() {
        let meta = |policy| defined(policy, Version::V2025_11_25).get("_meta").cloned();
        assert_eq!(meta("{}"), None);
        let asked = json!({"anthropic/maxResultSizeChars": 200_000});
        assert_eq!(meta(r#"{"max_output_bytes": 100000}"#), Some(asked));
        let most = json!({"anthropic/maxResultSizeChars": 500_000});
        assert_eq!(meta(r#"{"max_output_bytes": 16777216}"#), Some(most));
    }
}
