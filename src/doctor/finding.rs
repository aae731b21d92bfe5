//! What a check found: a state, a sentence, and what to do about it.

use serde::Serialize;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, and could be stronger.
    Note,
    /// A wall is missing or low, or an answer may be wrong.
    Weak,
    /// It keeps das from running anything.
    Broken,
    /// The check itself failed.
    Unknown,
}

impl State {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Weak => "weak",
            Self::Broken => "broken",
            Self::Unknown => "unknown",
        }
    }
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check's name.
    pub check: &'static str,
    /// How grave it is.
    pub state: State,
    /// What was found, or why nothing could be: a fragment without a full stop.
    pub found: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: State::Ok, found: found.into(), fix: None }
    }

    pub(super) fn note(check: &'static str, found: impl Into<String>, fix: &str) -> Self {
        Self { check, state: State::Note, found: found.into(), fix: Some(fix.to_owned()) }
    }

    pub(super) fn weak(check: &'static str, found: impl Into<String>, fix: &str) -> Self {
        Self { state: State::Weak, ..Self::note(check, found, fix) }
    }

    pub(super) fn broken(check: &'static str, found: impl Into<String>, fix: &str) -> Self {
        Self { state: State::Broken, ..Self::note(check, found, fix) }
    }

    pub(super) fn unknown(check: &'static str, why: impl Into<String>) -> Self {
        Self { state: State::Unknown, ..Self::ok(check, why) }
    }
}

/// What was found on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether das can run programs here. Weaknesses do not make it unusable.
    pub usable: bool,
    /// Every finding, in the order of the checks.
    pub findings: Vec<Finding>,
}

impl Report {
    pub(super) fn new(mut findings: Vec<Finding>) -> Self {
        let place =
            |finding: &Finding| super::CHECKS.iter().position(|check| *check == finding.check);
        findings.sort_by_key(place);
        let usable = findings.iter().all(|finding| finding.state != State::Broken);
        Self { usable, findings }
    }
}
