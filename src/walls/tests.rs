//! The table is whole: no flag without a wall, no wall without a flag, a sentence and a probe.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::engine::command::EnvChanges;
use crate::engine::{ClientProxies, EngineKind, Facts};
use crate::plan::CheckedPolicy;
use crate::plan::argv::{Argv, Line};
use crate::policy::SandboxPolicy;
use crate::tag::{Owner, RunTag};

/// The lines of command lines that have, together, every flag that das knows.
fn lines() -> Vec<Line> {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let full = format!(
        r#"{{"runtime": "runsc", "network": true, "env": {{"A": "b"}}, "seccomp": "strict",
             "work_dir": {{"path": "{dir}"}}}}"#
    );
    let mut lines = Vec::new();
    for (policy, kind) in [
        ("{}", EngineKind::Docker),
        (full.as_str(), EngineKind::Docker),
        (full.as_str(), EngineKind::Podman),
    ] {
        let policy = SandboxPolicy::from_json(policy).unwrap();
        let plan = CheckedPolicy::new(policy).unwrap().plan("python").unwrap();
        let facts = Facts {
            kind,
            program: kind.name().to_owned(),
            env: EnvChanges::default(),
            client_proxies: ClientProxies::Configured,
            most_processes: Some(1000),
        };
        let tag = RunTag::new(&Owner::Nobody, Duration::ZERO);
        lines.extend(Argv::new(&facts, &plan, &tag).lines().iter().cloned());
    }
    lines
}

#[test]
fn each_wall_has_one_row_in_the_order_of_the_walls() {
    let walls: Vec<Wall> = WALLS.iter().map(|row| row.wall).collect();
    assert!(walls.is_sorted());
    assert_eq!(walls.iter().collect::<BTreeSet<_>>().len(), WALLS.len());
    for row in &WALLS {
        assert_eq!(row.name.parse(), Ok(row.wall));
    }
}

#[test]
fn every_flag_of_a_command_line_is_a_flag_of_its_wall() {
    for Line { wall, words } in lines() {
        assert!(wall.flag(&words).is_some(), "{wall} has no flag {words:?}");
    }
}

#[test]
fn every_flag_of_the_table_is_in_some_command_line() {
    let lines = lines();
    for row in &WALLS {
        for flag in row.flags {
            let used = |line: &Line| {
                line.wall == row.wall
                    && row.wall.flag(&line.words).is_some_and(|it| it.starts == flag.starts)
            };
            assert!(lines.iter().any(used), "{} is in no command line", flag.starts);
        }
    }
}

#[test]
fn every_wall_has_a_flag_or_a_mechanism_and_a_probe_that_runs() {
    for row in &WALLS {
        assert!(!row.flags.is_empty() || row.mechanism.is_some(), "{}", row.name);
        assert!(!row.probe.runs.is_empty(), "{}", row.name);
    }
}

#[test]
fn every_sentence_is_one_and_can_stand_in_a_shell_comment() {
    for row in &WALLS {
        for sentence in [row.stops, row.open] {
            assert!(sentence.ends_with('.') && sentence.len() > 20, "{sentence}");
        }
        let does = row.flags.iter().map(|flag| flag.does).chain(row.mechanism);
        for text in does.chain([row.stops, row.open, row.plain]) {
            assert!(!text.contains(['`', '$', '\\', '"', '\'', '|', '\n']), "{text}");
            assert!(!text.contains("  "), "{text}");
        }
    }
}

#[test]
fn a_name_that_no_wall_has_is_refused_with_the_names_there_are() {
    let error = "firewall".parse::<Wall>().unwrap_err().to_string();
    assert!(error.starts_with("there is no wall `firewall`, only network, filesystem,"), "{error}");
}

#[test]
fn the_table_of_controls_has_a_row_for_each_wall() {
    let text = controls();
    assert_eq!(text.lines().count(), WALLS.len() + 2);
    assert!(text.contains("| `network` | `--network` | The program reaches no address"), "{text}");
}
