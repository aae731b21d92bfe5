//! When a program's time begins, by das's own clock.
//!
//! Only the engine knows when it started a container, and its clock may be another machine's. It
//! knows times; it does not know who asks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::preamble::Start;
use crate::engine::record::Record;

/// When the program's time begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// When the engine has started the container, which is some time after this spawn.
    FromStart(Spawned),
    /// Now: the container was started before, and got its code at this time.
    FromClaim {
        /// When the client was spawned.
        spawned: Spawned,
        /// When the code was sent.
        claimed: Instant,
    },
}

/// The time of a spawn, by both clocks of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spawned {
    at: Instant,
    /// In Unix time, as the engine's record has it.
    unix: Duration,
}

impl Spawned {
    pub(super) fn now() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { at: Instant::now(), unix }
    }

    /// When the engine started the container, as of `latest`. It cannot have been earlier than its
    /// own delay after the spawn. Where the engine's clock can be this machine's, it was exactly
    /// when the engine says.
    fn started(self, record: &Record, latest: Instant) -> Option<Instant> {
        let earliest = self.at + record.start_delay()?;
        let told = Duration::from_nanos(record.started?)
            .checked_sub(self.unix)
            .and_then(|since| self.at.checked_add(since));
        Some(told.filter(|told| (earliest..=latest).contains(told)).unwrap_or(earliest))
    }
}

impl Clock {
    /// A container that is asked for now.
    pub(super) fn now() -> Self {
        Self::FromStart(Spawned::now())
    }

    /// From now on somebody waits for a container that was asked for before.
    pub(super) fn claimed(self) -> Self {
        match self {
            Self::FromStart(spawned) | Self::FromClaim { spawned, .. } => {
                Self::FromClaim { spawned, claimed: Instant::now() }
            }
        }
    }

    /// When whoever waits for the answer began to wait.
    pub(super) fn begun(self) -> Instant {
        match self {
            Self::FromStart(spawned) => spawned.at,
            Self::FromClaim { claimed, .. } => claimed,
        }
    }

    /// When the program began to run. It began before `latest`.
    pub(super) fn start(self, record: &Record, latest: Instant) -> Start {
        match self {
            Self::FromStart(spawned) => match spawned.started(record, latest) {
                Some(started) => Start::At(started),
                None if record.ran() => Start::At(self.begun()),
                None => Start::Never,
            },
            // It may have been claimed before the engine had started it.
            Self::FromClaim { spawned, claimed } => match spawned.started(record, latest) {
                Some(started) => Start::At(claimed.max(started)),
                None if record.ran() => Start::At(claimed),
                None => Start::Never,
            },
        }
    }

    /// Whether the container was asked for before its code was known.
    pub(super) fn is_of_claim(self) -> bool {
        match self {
            Self::FromClaim { .. } => true,
            Self::FromStart(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const NOW: Duration = Duration::from_secs(1_000);

    /// Made and started so many milliseconds after the spawn, by the engine's clock.
    fn record(created: i64, started: i64) -> Record {
        let unix = |millis: i64| {
            let nanos = i64::try_from(NOW.as_nanos()).unwrap() + millis * 1_000_000;
            Some(u64::try_from(nanos).unwrap())
        };
        Record { created: unix(created), started: unix(started), ..Record::default() }
    }

    /// How long after the spawn the program began, where the client ended after a second.
    fn start(record: &Record) -> Duration {
        let spawned = Spawned { at: Instant::now(), unix: NOW };
        match Clock::FromStart(spawned).start(record, spawned.at + SECOND) {
            Start::At(start) => start.duration_since(spawned.at),
            Start::Never => panic!("it began"),
        }
    }

    #[test]
    fn an_engine_with_the_same_clock_is_believed() {
        assert_eq!(start(&record(200, 290)), Duration::from_millis(290));
    }

    #[test]
    fn of_a_clock_that_cannot_be_the_same_only_the_spans_are_believed() {
        for (created, started) in [(-500, -410), (5_000, 5_090), (-100_000, -99_910)] {
            assert_eq!(start(&record(created, started)), Duration::from_millis(90));
        }
    }

    #[test]
    fn a_container_that_never_started_has_no_start_and_one_that_is_forgotten_the_spawns() {
        let clock = Clock::now();
        let created = Record { started: None, ..record(1, 2) };
        assert_eq!(clock.start(&created, Instant::now()), Start::Never);
        let forgotten = Record { died: Some(3), ..Record::default() };
        assert_eq!(clock.start(&forgotten, Instant::now()), Start::At(clock.begun()));
    }
}
