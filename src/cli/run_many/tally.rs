//! What came of many runs together: the sums, and the worst of them.

use std::collections::BTreeMap;

use super::Ran;
use crate::cli::Exit;
use crate::outcome::{VERDICTS, Verdict};

/// What came of the runs so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    worst: Option<(Rank, u8)>,
    verdicts: BTreeMap<&'static str, usize>,
    refused: usize,
    total: usize,
}

/// How bad an end is, the worst last: a failing program is its author's to mend, an engine that
/// fails may have spoilt any other run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Success,
    Error,
    Timeout,
    OutOfMemory,
    CannotStart,
    Refused,
    SandboxError,
    Cancelled,
}

impl Tally {
    /// Counts one more.
    pub(super) fn add(&mut self, ran: &Ran) {
        self.total += 1;
        let end = match &ran.result {
            Ok(outcome) => {
                *self.verdicts.entry(outcome.verdict.name()).or_default() += 1;
                (Rank::of(outcome.verdict), outcome.process_exit_code())
            }
            Err(error) => {
                self.refused += 1;
                (Rank::Refused, error.exit_code())
            }
        };
        self.worst = self.worst.max(Some(end));
    }

    /// How many were counted.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// The exit code of the worst; among equals the highest code.
    pub(super) fn exit(&self) -> Exit {
        Exit::Code(self.worst.map_or(0, |(_, code)| code))
    }

    /// Such as `3 runs: 2 success, 1 timeout`.
    pub(super) fn summary(&self) -> String {
        let known = VERDICTS.iter().map(|(_, name, ..)| *name);
        let counted = known.filter_map(|name| Some((name, *self.verdicts.get(name)?)));
        let refused = (self.refused > 0).then_some(("not run", self.refused));
        let parts: Vec<String> =
            counted.chain(refused).map(|(name, count)| format!("{count} {name}")).collect();
        let runs = if self.total == 1 { "run" } else { "runs" };
        format!("{} {runs}: {}", self.total, parts.join(", "))
    }
}

impl Rank {
    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Success => Self::Success,
            Verdict::Error => Self::Error,
            Verdict::Timeout => Self::Timeout,
            Verdict::OutOfMemory => Self::OutOfMemory,
            Verdict::CannotStart => Self::CannotStart,
            Verdict::SandboxError => Self::SandboxError,
            Verdict::Cancelled => Self::Cancelled,
        }
    }
}
