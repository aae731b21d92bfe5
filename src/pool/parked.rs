//! One parked container, and how it is given back unused.

use std::time::Instant;

use crate::runner::{Fate, Waiting};
use crate::watchdog::Guard;

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

    /// Begins to give it back: without code its program ends by itself.
    pub(super) fn close(&mut self) {
        self.waiting.close();
    }

    /// Whether it ends, once closed, before this time. If not, the watchdog has it.
    pub(super) fn ended_by(self, until: Instant) -> bool {
        let ended = self.waiting.ended_by(until);
        if ended {
            drop(self.guard);
        } else {
            self.guard.keep();
        }
        ended
    }
}
