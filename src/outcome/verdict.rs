//! The verdicts, and the exit code that `das run` gives each.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How a run ended. Each is decided from what happened, never guessed from an exit code alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The program ended with 0.
    Success,
    /// It ended with another code.
    Error,
    /// The deadline passed and das killed it.
    Timeout,
    /// The kernel's OOM killer ended it.
    OutOfMemory,
    /// Its interpreter is missing from the image, or cannot be executed.
    CannotStart,
    /// A signal or a caller's cancellation ended it.
    Cancelled,
    /// Docker, the image or das itself failed: the program did not run, or its end is unknown.
    SandboxError,
}

/// Every verdict with its name, when it is given, and the exit code of `das run`. The help, the
/// man page and the README are made from this table or tested against it.
pub const VERDICTS: [(Verdict, &str, &str, &str); 7] = [
    (Verdict::Success, "success", "the program ended with 0", "0"),
    (Verdict::Error, "error", "the program ended with another code", "that code"),
    (Verdict::Timeout, "timeout", "the deadline passed and das killed the program", "124"),
    (Verdict::OutOfMemory, "out_of_memory", "the kernel's OOM killer ended the program", "137"),
    (
        Verdict::CannotStart,
        "cannot_start",
        "the interpreter is missing (127) or cannot be executed (126)",
        "127, 126",
    ),
    (Verdict::Cancelled, "cancelled", "a signal or a caller ended the run", "128 + signal"),
    (
        Verdict::SandboxError,
        "sandbox_error",
        "the engine, the image or das failed; the program did not run, or its end is unknown",
        "125",
    ),
];

impl Verdict {
    /// Its name in JSON, in the audit log and in MCP results.
    pub fn name(self) -> &'static str {
        let row = VERDICTS.iter().find(|(verdict, ..)| *verdict == self);
        row.map(|(_, name, ..)| *name).expect("every verdict has its row")
    }

    /// Whether it tells what a program did. The others tell that none could run, or that its end
    /// is unknown.
    pub fn is_of_the_program(self) -> bool {
        match self {
            Self::Success | Self::Error | Self::Timeout | Self::OutOfMemory | Self::Cancelled => {
                true
            }
            Self::CannotStart | Self::SandboxError => false,
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A text that is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}", VERDICTS.map(|row| row.1).join(", "))]
pub struct UnknownVerdict;

impl FromStr for Verdict {
    type Err = UnknownVerdict;

    fn from_str(text: &str) -> Result<Self, UnknownVerdict> {
        let row = VERDICTS.iter().find(|(_, name, ..)| *name == text);
        row.map(|(verdict, ..)| *verdict).ok_or(UnknownVerdict)
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_one_row_and_a_name_of_its_own() {
        let names: std::collections::HashSet<_> = VERDICTS.iter().map(|row| row.0.name()).collect();
        assert_eq!(names.len(), VERDICTS.len());
        assert_eq!(serde_json::to_string(&Verdict::OutOfMemory).unwrap(), "\"out_of_memory\"");
        for (verdict, name, ..) in VERDICTS {
            assert_eq!(name.parse(), Ok(verdict));
        }
        assert_eq!("Success".parse::<Verdict>(), Err(UnknownVerdict));
    }
}
