//! What a program prints: live, whole up to the cap, on two streams, and harmless.

mod bytes;
mod cap;
mod engines_words;
mod live;
mod terminal;

use crate::support::{Das, StandIn};

fn run(stand_in: &StandIn) -> Das<'_> {
    Das::new(stand_in).args(["run", "-c", "pass"])
}

const SUCCESS: &str = "[sandbox] success in [TIME]\n";
