//! Lets any thread end a run that another thread supervises.

use std::io;
use std::process::ExitStatus;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use crate::outcome::classify::StopCause;

/// What the supervising thread hears.
#[derive(Debug)]
pub(super) enum Event {
    /// The engine's client ended.
    Exited(io::Result<ExitStatus>),
    /// Somebody wants the run to end.
    Stop(StopCause),
}

/// Ends one run. Clones end the same run; the first cause counts.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    /// No run has begun.
    #[default]
    Idle,
    /// This run hears.
    Running(Sender<Event>),
    /// It has been stopped, perhaps before it began.
    Stopped(StopCause),
    /// It ended by itself.
    Over,
}

impl Stopper {
    /// Ends the run. Returns at once; the run itself answers when its container is gone.
    /// A run that has not begun will not.
    pub fn stop(&self, cause: StopCause) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Stopped(_) | State::Over => return,
            // A run that has just ended hears nothing, and there is nothing to end.
            State::Running(run) => run.send(Event::Stop(cause)).unwrap_or(()),
            State::Idle => {}
        }
        *state = State::Stopped(cause);
    }

    /// Why the run was stopped, if it was.
    pub fn cause(&self) -> Option<StopCause> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Stopped(cause) => Some(*cause),
            State::Idle | State::Running(_) | State::Over => None,
        }
    }

    /// Says that the run is over: from now on there is nothing to stop.
    pub fn end(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Stopped(_) => {}
            State::Idle | State::Running(_) | State::Over => *state = State::Over,
        }
    }

    /// Whether the run is over without having been stopped.
    pub fn is_over(&self) -> bool {
        matches!(&*self.0.lock().unwrap_or_else(PoisonError::into_inner), State::Over)
    }

    /// From now on this run hears.
    pub(super) fn listen(&self, run: Sender<Event>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Stopped(cause) => run.send(Event::Stop(*cause)).unwrap_or(()),
            State::Idle | State::Running(_) | State::Over => *state = State::Running(run),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn the_first_cause_counts_and_is_heard_once() {
        let (sender, receiver) = mpsc::channel();
        let stopper = Stopper::default();
        stopper.listen(sender);
        stopper.clone().stop(StopCause::Signal(15));
        stopper.stop(StopCause::Caller);
        let heard: Vec<Event> = receiver.try_iter().collect();
        assert!(matches!(heard.as_slice(), [Event::Stop(StopCause::Signal(15))]), "{heard:?}");
        assert_eq!(stopper.cause(), Some(StopCause::Signal(15)));
    }

    #[test]
    fn a_stop_before_the_start_is_heard_at_the_start() {
        let (sender, receiver) = mpsc::channel();
        let stopper = Stopper::default();
        stopper.stop(StopCause::Caller);
        stopper.listen(sender);
        assert!(matches!(receiver.try_recv(), Ok(Event::Stop(StopCause::Caller))));
    }
}
