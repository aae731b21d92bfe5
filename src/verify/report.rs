//! What a verification has found, and its renderers: pure functions of it.

pub mod junit;
pub mod table;

use std::time::Duration;

use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

use crate::outcome::classify::StopCause;
use crate::walls::{Fault, Holding, Judgement, Wall};

/// What can be said of a wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// All that the policy promises holds.
    Held,
    /// It does not hold.
    Broken,
    /// The policy itself opens it; what it leaves of it holds.
    Open,
    /// Nobody can say.
    Unknown,
}

impl State {
    /// Its name, as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "HELD",
            Self::Broken => "BROKEN",
            Self::Open => "OPEN",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Whether all that the policy promises of the wall holds.
    pub const fn keeps_its_promise(self) -> bool {
        match self {
            Self::Held | Self::Open => true,
            Self::Broken | Self::Unknown => false,
        }
    }
}

/// What is said of one wall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The wall.
    pub wall: Wall,
    /// What can be said.
    pub state: State,
    /// What was tried and what the kernel answered; of an unknown state, why it is.
    pub evidence: String,
}

impl Finding {
    pub(super) fn new(wall: Wall, judgement: Judgement) -> Self {
        let (state, evidence) = match judgement {
            Ok(Holding::Held(evidence)) => (State::Held, evidence),
            Ok(Holding::Open(evidence)) => (State::Open, evidence),
            Err(Fault::Broken(evidence)) => (State::Broken, evidence),
            Err(Fault::Unknown(evidence)) => (State::Unknown, evidence),
        };
        // Part of it is a program's own words: one line, without what could drive a terminal.
        let evidence = evidence.split_whitespace().collect::<Vec<_>>().join(" ");
        let evidence = evidence.chars().filter(|c| !c.is_control()).take(400).collect();
        Self { wall, state, evidence }
    }
}

/// What was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The language of the probes.
    pub language: String,
    /// The image.
    pub image: String,
    /// The engine with its version, as far as it states one.
    pub engine: String,
    /// The OCI runtime that the policy demands.
    pub runtime: Option<String>,
}

/// What a verification has found.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was verified.
    pub subject: Subject,
    /// What is said of each wall, in the order of the table.
    pub findings: Vec<Finding>,
    /// From its beginning to its end.
    pub duration: Duration,
    /// Why it was stopped, if it was.
    pub stopped: Option<StopCause>,
}

impl Report {
    /// Whether all that the policy promises holds.
    pub fn holds(&self) -> bool {
        self.findings.iter().all(|finding| finding.state.keeps_its_promise())
    }

    /// How many walls are in this state.
    pub fn count(&self, state: State) -> usize {
        self.findings.iter().filter(|finding| finding.state == state).count()
    }

    /// The duration in seconds, to the hundredth.
    pub fn seconds(&self) -> f64 {
        (self.duration.as_secs_f64() * 100.0).round() / 100.0
    }
}

/// The object that `das verify --json` prints.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Report", 7)?;
        object.serialize_field("holds", &self.holds())?;
        object.serialize_field("language", &self.subject.language)?;
        object.serialize_field("image", &self.subject.image)?;
        object.serialize_field("engine", &self.subject.engine)?;
        object.serialize_field("runtime", &self.subject.runtime)?;
        object.serialize_field("duration_seconds", &self.seconds())?;
        object.serialize_field("walls", &self.findings)?;
        object.end()
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Finding", 5)?;
        object.serialize_field("wall", self.wall.name())?;
        object.serialize_field("state", self.state.name())?;
        object.serialize_field("evidence", &self.evidence)?;
        object.serialize_field("stops", self.wall.row().stops)?;
        object.serialize_field("open", self.wall.row().open)?;
        object.end()
    }
}
