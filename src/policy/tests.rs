//! Tests of the policy as a whole: loading, ranges, schema.

use super::fields::{FIELDS, Kind};
use super::{SandboxPolicy, json_schema};

fn refusal(json: &str) -> String {
    use std::error::Error as _;
    let error = SandboxPolicy::from_json(json).expect_err(json);
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[test]
fn an_empty_policy_is_the_default_one() {
    assert_eq!(SandboxPolicy::from_json("{}").unwrap(), SandboxPolicy::default());
}

#[test]
fn a_printed_policy_read_back_is_the_same_policy() {
    let policy = SandboxPolicy::from_json(
        r#"{"timeout_seconds": 0.5, "images": {"python": "python:3.13"}, "env": {"A": "b c"},
            "languages": {"ruby": {"image": "ruby:3.3", "command": ["ruby", "-"]}},
            "work_dir": {"path": "/srv/data"}, "runtime": "runsc", "engine": "/opt/docker"}"#,
    )
    .unwrap();
    assert_eq!(SandboxPolicy::from_json(&policy.to_json()).unwrap(), policy);
    assert_eq!(SandboxPolicy::from_json(&policy.to_json()).unwrap().to_json(), policy.to_json());
}

#[test]
fn the_table_has_every_key_of_the_policy_in_order() {
    let printed: serde_json::Value =
        serde_json::from_str(&SandboxPolicy::default().to_json()).unwrap();
    let mut keys: Vec<_> = printed.as_object().unwrap().keys().cloned().collect();
    let mut table: Vec<_> = FIELDS.iter().map(|field| field.key.to_owned()).collect();
    keys.sort();
    table.sort();
    assert_eq!(keys, table);
}

#[test]
fn every_number_is_refused_just_outside_its_range_and_accepted_at_its_ends() {
    for field in FIELDS {
        let (inside, outside): (Vec<String>, Vec<String>) = match field.kind {
            Kind::Whole(min, max) => (
                vec![min.to_string(), max.to_string()],
                vec![
                    (i128::from(min) - 1).to_string(),
                    (max + 1).to_string(),
                    "-1".into(),
                    format!("{min}.5"),
                ],
            ),
            Kind::Fraction(min, max) => (
                vec![min.to_string(), max.to_string()],
                vec![(min / 2.0).to_string(), (max + 0.5).to_string(), "-1".into()],
            ),
            Kind::Switch
            | Kind::Choice(_)
            | Kind::Text(_)
            | Kind::Texts
            | Kind::Languages
            | Kind::WorkDir => continue,
        };
        for number in &outside {
            let message = refusal(&format!(r#"{{"{}": {number}}}"#, field.key));
            assert_eq!(
                message,
                format!("`{}` must be {}, not {number}", field.key, field.kind.expectation())
            );
        }
        for number in inside {
            SandboxPolicy::from_json(&format!(r#"{{"{}": {number}}}"#, field.key)).unwrap();
        }
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    assert_eq!(
        refusal(r#"{"timeout_second": 3}"#),
        "unknown key `timeout_second`, did you mean `timeout_seconds`?"
    );
    assert_eq!(refusal(r#"{"zzz": 3}"#), "unknown key `zzz`");
    assert_eq!(
        refusal(r#"{"work_dir": {"path": "/x", "writeable": true}}"#),
        "unknown key `work_dir.writeable`, did you mean `writable`?"
    );
    assert_eq!(
        refusal(r#"{"languages": {"ruby": {"imag": "x", "command": ["ruby"]}}}"#),
        "unknown key `languages.ruby.imag`, did you mean `image`?"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_what_is_expected() {
    for (json, message) in [
        (
            r#"{"memory_mb": "256"}"#,
            r#"`memory_mb` must be a whole number from 16 to 1048576, not "256""#,
        ),
        (
            r#"{"memory_mb": null}"#,
            "`memory_mb` must be a whole number from 16 to 1048576, not null",
        ),
        (r#"{"network": "no"}"#, r#"`network` must be true or false, not "no""#),
        (
            r#"{"pull": "sometimes"}"#,
            r#"`pull` must be one of never, missing, always, not "sometimes""#,
        ),
        (
            r#"{"images": {"python": 3}}"#,
            r#"`images` must be an object of texts, not {"python":3}"#,
        ),
        (
            r#"{"languages": {"ruby": 1}}"#,
            r#"`languages.ruby` must be an object such as {"image": "ruby:3.3-slim", "command": ["ruby", "-"]}, not 1"#,
        ),
    ] {
        assert_eq!(refusal(json), message);
    }
}

#[test]
fn what_has_a_grammar_is_refused_with_its_path() {
    for (json, start) in [
        (
            r#"{"images": {"python": "--privileged"}}"#,
            "`images.python`: \"--privileged\" is not an image reference",
        ),
        (r#"{"user": "0:0"}"#, "`user`: \"0:0\" is not a user: uid 0 and gid 0"),
        (r#"{"runtime": "-x"}"#, "`runtime`: \"-x\" is not a runtime's name"),
        (r#"{"env": {"A=B": "c"}}"#, "`env.A=B`: \"A=B\" is not a variable's name"),
        (r#"{"env": {"A": "\u0000"}}"#, "`env.A`: a NUL character"),
        (r#"{"engine": "rkt"}"#, "`engine`: \"rkt\" is not an engine"),
        (
            r#"{"languages": {"ruby": {"image": "ruby", "command": []}}}"#,
            "`languages.ruby.command`: expected at least one word",
        ),
        (
            r#"{"languages": {"ruby": {"image": "ruby", "command": ["-x"]}}}"#,
            "`languages.ruby.command`: the first word must be a program",
        ),
        (
            r#"{"languages": {"ruby": {"image": "ruby"}}}"#,
            "`languages.ruby`: missing field `command`",
        ),
    ] {
        let message = refusal(json);
        assert!(message.starts_with(start), "{json}\n  said: {message}\n  not:  {start}");
    }
}

#[test]
fn what_is_not_an_object_is_refused_with_the_place_of_the_fault() {
    assert_eq!(refusal("[]"), "the policy is not a JSON object");
    assert_eq!(
        refusal("{"),
        "the policy is not a JSON object: EOF while parsing an object at line 1 column 1"
    );
}

#[test]
fn the_schema_has_a_property_with_help_and_default_for_every_key() {
    let schema = json_schema();
    for field in FIELDS {
        let property = &schema["properties"][field.key];
        assert_eq!(property["description"], field.help);
        assert!(property.get("default").is_some(), "{}", field.key);
    }
    assert_eq!(schema["additionalProperties"], false);
}
