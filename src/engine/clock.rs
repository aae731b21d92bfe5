//! The engine's clock, as far as it is known to differ from das's own: it may be another machine's,
//! or that of a virtual machine which has slept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long what was learnt is not doubted: a virtual machine may sleep at any time, and an engine
/// that hangs is not asked with every question.
const FRESH: Duration = Duration::from_secs(10);

/// One for each engine; its clones share what one of them has learnt.
#[derive(Debug, Clone, Default)]
pub(super) struct EngineClock {
    learnt: Arc<Mutex<Learnt>>,
}

#[derive(Debug, Default)]
struct Learnt {
    /// In nanoseconds; negative where the engine's is behind.
    ahead: i128,
    at: Option<Instant>,
}

impl EngineClock {
    /// The time that the engine's clock shows now, as Unix time. Until something is learnt it is
    /// taken for das's own.
    pub(super) fn now(&self) -> Duration {
        from_nanos(nanos(own_now()).saturating_add(self.lock().ahead))
    }

    /// Whether the engine's clock has been looked at lately.
    pub(super) fn is_fresh(&self, now: Instant) -> bool {
        self.lock().at.is_some_and(|at| now < at + FRESH)
    }

    /// Learns from what the engine's clock showed at some time between these two of das's. What
    /// lies between them is no difference; of what is left the later end is taken, so that nothing
    /// which has happened is still to come. An engine that does not say changes nothing.
    pub(super) fn learn(&self, asked: Duration, shown: Option<i128>, answered: Duration) {
        let agrees = |shown: &i128| (nanos(asked)..=nanos(answered)).contains(shown);
        let mut learnt = self.lock();
        if let Some(shown) = shown {
            learnt.ahead = if agrees(&shown) { 0 } else { shown - nanos(asked) };
        }
        learnt.at = Some(Instant::now());
    }

    fn lock(&self) -> MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
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
        clock.lock().ahead / 1_000_000
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
    fn an_engine_that_does_not_say_is_believed_to_be_as_before() {
        assert_eq!(learnt(|_| None), 0);
        let clock = EngineClock::default();
        clock.learn(HOUR, Some(0), HOUR);
        clock.learn(HOUR, None, HOUR);
        assert_eq!(clock.lock().ahead, -nanos(HOUR));
    }

    #[test]
    fn what_was_learnt_is_doubted_after_a_while_and_can_be_learnt_anew() {
        let clock = EngineClock::default();
        assert!(!clock.is_fresh(Instant::now()));
        clock.learn(HOUR, Some(0), HOUR);
        assert!(clock.is_fresh(Instant::now()));
        assert!(!clock.is_fresh(Instant::now() + FRESH));
        clock.learn(HOUR, Some(nanos(HOUR)), HOUR);
        assert_eq!(clock.lock().ahead, 0);
    }

    #[test]
    fn a_time_before_1970_is_1970() {
        let clock = EngineClock::default();
        clock.learn(HOUR, Some(i128::MIN / 2), HOUR);
        assert_eq!(clock.now(), Duration::ZERO);
    }
}
