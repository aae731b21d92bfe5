//! Ends all runs of a verification at once.

use std::sync::{Arc, Mutex, PoisonError};

use crate::outcome::classify::StopCause;
use crate::runner::Stopper;

/// Ends the runs of one verification, those that have begun and those that have not.
#[derive(Debug, Clone, Default)]
pub struct Stoppers(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    given: Vec<Stopper>,
    cause: Option<StopCause>,
}

impl Stoppers {
    /// Ends them. The first cause counts.
    pub fn stop(&self, cause: StopCause) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.cause.get_or_insert(cause);
        for stopper in &state.given {
            stopper.stop(cause);
        }
    }

    /// Why they were ended, if they were.
    pub fn cause(&self) -> Option<StopCause> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cause
    }

    /// A stopper for one more run; it is stopped already where all are.
    pub(super) fn next(&self) -> Stopper {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stopper = Stopper::default();
        if let Some(cause) = state.cause {
            stopper.stop(cause);
        }
        state.given.push(stopper.clone());
        stopper
    }
}
