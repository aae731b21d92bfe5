//! The tables of the README are those of the code.

use std::fmt::Write as _;

use docker_agent_sandbox::SandboxPolicy;
use docker_agent_sandbox::outcome::VERDICTS;
use docker_agent_sandbox::policy::fields::{FIELDS, Field, Kind};
use docker_agent_sandbox::walls;
use serde_json::Value;

use super::readme;

#[track_caller]
fn is_in_the_readme(table: &str) {
    assert!(readme().contains(table), "the README lacks this table:\n{table}");
}

#[test]
fn the_table_of_verdicts_is_the_codes() {
    let mut table = "| verdict | when | `das run` exits with |\n|---|---|---|\n".to_owned();
    for (_, name, when, exit) in VERDICTS {
        writeln!(table, "| `{name}` | {when} | {exit} |").expect("a growing text");
    }
    is_in_the_readme(&table);
}

#[test]
fn the_table_of_walls_is_the_codes() {
    is_in_the_readme(&walls::controls());
}

#[test]
fn the_table_of_the_policy_is_the_codes() {
    let defaults: Value =
        serde_json::from_str(&SandboxPolicy::default().to_json()).expect("a policy");
    let mut table = "| key | default | values | what it decides |\n|---|---|---|---|\n".to_owned();
    for field in &FIELDS {
        let default = default(field, &defaults[field.key]);
        let (key, values, help) = (field.key, values(field), field.help);
        writeln!(table, "| `{key}` | {default} | {values} | {help} |").expect("a growing text");
    }
    is_in_the_readme(&table);
}

fn default(field: &Field, value: &Value) -> String {
    match field.kind {
        // Three lines of JSON; `das policy` prints them.
        Kind::Texts if value.as_object().is_some_and(|it| !it.is_empty()) => {
            "see `das policy`".to_owned()
        }
        Kind::Whole(..)
        | Kind::Fraction(..)
        | Kind::Switch
        | Kind::Choice(_)
        | Kind::Text(_)
        | Kind::Texts
        | Kind::Languages
        | Kind::WorkDir => format!("`{value}`"),
    }
}

fn values(field: &Field) -> String {
    match field.kind {
        Kind::Whole(min, max) => format!("{min} to {max}"),
        Kind::Fraction(min, max) => format!("{min} to {max}, fractions too"),
        Kind::Switch => "`true`, `false`".to_owned(),
        Kind::Choice(words) => format!("`{}`", words.join("`, `")),
        Kind::Text(_) | Kind::Texts | Kind::Languages => field.kind.expectation(),
        Kind::WorkDir => "null or `{\"path\": ..., \"writable\": false}`".to_owned(),
    }
}
