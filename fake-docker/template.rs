//! The part of Go's templates that `--format` is used with here: `{{.A.B}}`, `{{json .A}}`,
//! `{{index .A "key"}}`, `{{.Label "key"}}`, `{{json (.Label "key")}}` and text between them.

use serde_json::Value;

use crate::failure::Failure;

pub(crate) fn render(template: &str, value: &Value) -> Result<String, Failure> {
    if template == "json" {
        return Ok(json(value));
    }
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (action, after) = after.split_once("}}").ok_or_else(|| unplayed(template))?;
        text.push_str(before);
        text.push_str(&action_of(action.trim(), value).ok_or_else(|| unplayed(template))?);
        rest = after;
    }
    Ok(text + rest)
}

/// JSON as Go writes it: safe inside HTML.
pub(crate) fn json(value: &Value) -> String {
    let text = value.to_string();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn action_of(action: &str, value: &Value) -> Option<String> {
    let words: Vec<&str> = action.split_whitespace().collect();
    match words.as_slice() {
        ["json", "(.Label", key] => {
            Some(json(&Value::String(label(value, key.trim_end_matches(')').trim_matches('"')))))
        }
        ["json", path] => at(path, value).map(json),
        ["index", path, key] => plain(at(path, value)?.get(key.trim_matches('"'))?),
        [".Label", key] => Some(label(value, key.trim_matches('"'))),
        [path] => plain(at(path, value)?),
        _ => None,
    }
}

fn at<'a>(path: &str, value: &'a Value) -> Option<&'a Value> {
    let keys = path.strip_prefix('.')?.split('.').filter(|key| !key.is_empty());
    keys.into_iter().try_fold(value, |value, key| value.get(key))
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null => Some("<no value>".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// `ps` tells labels as one text, `a=b,c=d`.
fn label(value: &Value, key: &str) -> String {
    let labels = value.get("Labels").and_then(Value::as_str).unwrap_or_default();
    let pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == key).map(|(_, value)| value).collect()
}

fn unplayed(template: &str) -> Failure {
    Failure::unplayed(format!("format `{template}`"))
}
