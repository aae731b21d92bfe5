//! The report as a JUnit suite, for CI: one case for each wall.

use super::{Finding, Report, State};
use crate::junit::{Case, CaseResult, Reason, Suite};

/// The suite.
pub fn suite(report: &Report) -> Suite {
    let subject = &report.subject;
    Suite {
        name: format!("{} in {} on {}", subject.language, subject.image, subject.engine),
        seconds: report.seconds(),
        cases: report.findings.iter().map(case).collect(),
    }
}

fn case(finding: &Finding) -> Case {
    let reason = |kind: &str| Reason {
        kind: kind.to_owned(),
        message: finding.evidence.clone(),
        details: finding.wall.row().stops.to_owned(),
    };
    let (result, stdout) = match finding.state {
        State::Held => (CaseResult::Passed, finding.evidence.clone()),
        State::Open => (CaseResult::Skipped(finding.evidence.clone()), String::new()),
        State::Broken => (CaseResult::Failed(reason("broken")), String::new()),
        State::Unknown => (CaseResult::Error(reason("unknown")), String::new()),
    };
    Case {
        class: "das.walls".to_owned(),
        name: finding.wall.name().to_owned(),
        // Walls share their runs.
        seconds: None,
        result,
        stdout,
        stderr: String::new(),
    }
}
