//! What holds of every answer of an engine about itself. For fuzzers and tests.

use serde_json::Value;

use super::finding::{Finding, Report, State};
use super::{CHECKS, daemon, leftovers, write_report};
use crate::engine::command::EnvChanges;
use crate::engine::{ClientProxies, Engine, EngineKind, Facts};
use crate::policy::SandboxPolicy;

const NOW: u64 = 1_800_000_000;

/// Takes the input for what the engine answers to each question.
pub(crate) fn answers(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let policy = SandboxPolicy::default();
    for kind in [EngineKind::Docker, EngineKind::Podman, EngineKind::Nerdctl] {
        let mut findings = daemon::told_versions(kind, &value);
        findings.extend(daemon::told_info(kind, &value, &policy));
        let rows = leftovers::rows_of_podman(&text);
        for listed in [text.as_ref(), &rows] {
            let finding = leftovers::judge(&engine(kind), listed, NOW);
            removes_ours_alone(&finding);
            findings.push(finding);
        }
        report(findings);
    }
}

fn engine(kind: EngineKind) -> Engine {
    Engine::new(Facts {
        kind,
        program: kind.name().to_owned(),
        env: EnvChanges::default(),
        client_proxies: ClientProxies::None,
        most_processes: None,
    })
}

/// A command that people are told to paste names containers of das and nothing else.
fn removes_ours_alone(finding: &Finding) {
    let Some(fix) = &finding.fix else { return };
    let command = fix.split('`').nth(1).expect("a command");
    let names = command.split(' ').filter(|word| word.starts_with("das-"));
    assert!(names.clone().all(|name| name.len() == 20), "{command:?}");
    let plain = |c: char| c.is_ascii_alphanumeric() || " -".contains(c);
    assert!(names.count() > 0 && command.chars().all(plain), "{command:?}");
}

/// Every finding is one of the report's, and its text drives no terminal.
fn report(findings: Vec<Finding>) {
    for finding in &findings {
        assert!(CHECKS.contains(&finding.check), "{}", finding.check);
        assert_ne!(finding.state, State::Broken, "it cannot be known from this: {finding:?}");
    }
    let mut written = Vec::new();
    write_report(&Report::new(findings), &mut written).expect("memory takes everything");
    let written = String::from_utf8(written).expect("a report is text");
    for (index, part) in written.split('\u{1b}').enumerate() {
        // Das's own colours are all that there is.
        let end = if index == 0 {
            Some(0)
        } else {
            part.starts_with('[').then(|| part.find('m')).flatten()
        };
        let end = end.expect("a colour");
        assert!(part[..end].chars().all(|c| c.is_ascii_digit() || "[;".contains(c)), "{part:?}");
        assert!(!part.chars().any(|c| c.is_control() && c != '\n'), "{part:?}");
    }
}
