//! One parked container, and how it is given back unused.

use std::time::{Duration, Instant};

use crate::runner::{Fate, Waiting};
use crate::watchdog::Guard;

/// How long all parked containers together may take to end when the pool goes. What is left then
/// is the watchdog's.
const CLOSE_BOUND: Duration = Duration::from_millis(700);

/// A container that waits for a program.
#[derive(Debug)]
pub(crate) struct Parked {
    pub(crate) waiting: Waiting,
    pub(crate) guard: Guard,
    /// What its image reference stood for when it was started.
    pub(super) image_id: String,
    pub(super) since: Instant,
}

impl Parked {
    /// Whether it can still take a program.
    pub(super) fn is_alive(&self) -> bool {
        self.waiting.is_alive()
    }

    /// Gives it back and waits until it is gone, for some seconds at most.
    pub(super) fn give_back(self) {
        match self.waiting.give_back() {
            Fate::Gone => drop(self.guard),
            Fate::Unconfirmed => self.guard.keep(),
        }
    }
}

/// Ends all of them at once; the watchdog takes what does not end in time.
pub(super) fn close(mut parked: Vec<Parked>) {
    let until = Instant::now() + CLOSE_BOUND;
    for parked in &mut parked {
        parked.waiting.close();
    }
    for Parked { waiting, guard, .. } in parked {
        if waiting.ended_by(until) { drop(guard) } else { guard.keep() }
    }
}
