//! The engine's clock, as far as it is known to differ from das's own: it may be another machine's,
//! or that of a virtual machine which has slept.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// One for each engine; its clones share what one of them has learnt.
#[derive(Debug, Clone, Default)]
pub(super) struct EngineClock {
    /// In nanoseconds; negative where the engine's is behind.
    ahead: Arc<OnceLock<i128>>,
}

impl EngineClock {
    /// The time that the engine's clock shows now, as Unix time. Until something is learnt it is
    /// taken for das's own.
    pub(super) fn now(&self) -> Duration {
        let ahead = self.ahead.get().copied().unwrap_or_default();
        from_nanos(nanos(own_now()).saturating_add(ahead))
    }

    pub(super) fn is_known(&self) -> bool {
        self.ahead.get().is_some()
    }

    /// Learns from what the engine's clock showed at some time between these two of das's. What
    /// lies between them is no difference; of what is left the later end is taken, so that nothing
    /// which has happened is still to come.
    pub(super) fn learn(&self, asked: Duration, shown: Option<i128>, answered: Duration) {
        let agrees = |shown: &i128| (nanos(asked)..=nanos(answered)).contains(shown);
        let ahead = shown.filter(|shown| !agrees(shown)).map_or(0, |shown| shown - nanos(asked));
        // What another thread has learnt meanwhile is as good.
        self.ahead.get_or_init(|| ahead);
    }
}

/// The time that das's own clock shows.
pub(super) fn own_now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

fn from_nanos(nanos: i128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const LATENCY: Duration = Duration::from_millis(80);

    /// How far ahead, in milliseconds, an engine is taken to be that shows this.
    fn learnt(shown: impl FnOnce(i128) -> Option<i128>) -> i128 {
        let clock = EngineClock::default();
        clock.learn(HOUR, shown(nanos(HOUR)), HOUR + LATENCY);
        clock.ahead.get().unwrap() / 1_000_000
    }

    #[test]
    fn a_clock_that_shows_a_time_between_question_and_answer_agrees() {
        for millis in [0, 40, 80] {
            assert_eq!(learnt(|asked| Some(asked + millis * 1_000_000)), 0);
        }
    }

    #[test]
    fn a_clock_that_is_ahead_or_behind_is_never_taken_for_an_earlier_one() {
        assert_eq!(learnt(|asked| Some(asked + 5_000_000_000)), 5_000);
        assert_eq!(learnt(|asked| Some(asked - 5_000_000_000)), -5_000);
    }

    #[test]
    fn an_engine_that_does_not_say_is_believed_to_agree_and_not_asked_again() {
        assert_eq!(learnt(|_| None), 0);
    }

    #[test]
    fn a_time_before_1970_is_1970() {
        let clock = EngineClock::default();
        clock.learn(HOUR, Some(i128::MIN / 2), HOUR);
        assert_eq!(clock.now(), Duration::ZERO);
    }
}
