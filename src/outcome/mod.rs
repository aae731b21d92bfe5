//! What happened in one run. Every renderer is a pure function of an [`Outcome`].

use std::time::Duration;

use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

use crate::capture::Captured;
use crate::names::{ImageRef, LanguageName};

pub mod classify;
pub mod failure;
pub mod hints;
mod verdict;

pub use verdict::{UnknownVerdict, VERDICTS, Verdict};

/// What happened in one run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// The program's exit code; none where it has none of its own.
    pub exit_code: Option<i32>,
    /// The signal that cancelled the run, if one did.
    pub signal: Option<i32>,
    /// What failed, whose job it is and what to do.
    pub hint: Option<String>,
    /// What the program printed.
    pub stdout: Captured,
    /// What it printed as errors. What the engine said is not in it.
    pub stderr: Captured,
    /// From the start of the container's client to its end.
    pub duration: Duration,
    /// What the owner of the policy should know: walls that are open or not enforced, a
    /// container whose end is not confirmed.
    pub warnings: Vec<String>,
    /// Whether it ran in a container that was started ahead.
    pub warm: bool,
    /// The language it was run as.
    pub language: LanguageName,
    /// The image it ran in.
    pub image: ImageRef,
    /// The SHA-256 of the program, in hexadecimal digits.
    pub code_sha256: String,
    /// The random part of the container's name.
    pub run_id: String,
}

impl Outcome {
    /// Whether das killed the program at its deadline.
    pub fn timed_out(&self) -> bool {
        self.verdict == Verdict::Timeout
    }

    /// Whether anything of the output was left out.
    pub fn truncated(&self) -> bool {
        self.stdout.omitted().is_some() || self.stderr.omitted().is_some()
    }

    /// The duration in seconds, to the millisecond.
    pub fn duration_seconds(&self) -> f64 {
        (self.duration.as_secs_f64() * 1000.0).round() / 1000.0
    }

    /// The exit code of `das run`.
    pub fn process_exit_code(&self) -> u8 {
        let own = |code: i32| u8::try_from(code & 0xFF).unwrap_or(1);
        match self.verdict {
            Verdict::Success => 0,
            Verdict::Error => self.exit_code.map_or(1, own),
            Verdict::Timeout => 124,
            Verdict::OutOfMemory => 137,
            Verdict::CannotStart => self.exit_code.map_or(127, own),
            Verdict::Cancelled => own(128 + self.signal.unwrap_or(2)),
            Verdict::SandboxError => 125,
        }
    }
}

/// The object that `das run --json` prints.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Outcome", 15)?;
        object.serialize_field("verdict", &self.verdict)?;
        object.serialize_field("exit_code", &self.exit_code)?;
        object.serialize_field("hint", &self.hint)?;
        object.serialize_field("stdout", &self.stdout.text())?;
        object.serialize_field("stderr", &self.stderr.text())?;
        object.serialize_field("duration_seconds", &self.duration_seconds())?;
        object.serialize_field("timed_out", &self.timed_out())?;
        object.serialize_field("truncated", &self.truncated())?;
        object.serialize_field("stdout_bytes", &self.stdout.total())?;
        object.serialize_field("stderr_bytes", &self.stderr.total())?;
        object.serialize_field("language", &self.language)?;
        object.serialize_field("image", &self.image)?;
        object.serialize_field("code_sha256", &self.code_sha256)?;
        object.serialize_field("run_id", &self.run_id)?;
        object.serialize_field("warnings", &self.warnings)?;
        object.end()
    }
}
