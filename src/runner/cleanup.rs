//! Makes sure that a container is gone after a client that may have left it.

use std::thread;
use std::time::{Duration, Instant};

use super::lifecycle::Time;
use crate::engine::{Engine, RemoveAnswer};
use crate::tag::ContainerName;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// What is known of a container at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is gone.
    Gone,
    /// The engine does not say.
    Unconfirmed,
}

/// Whether the container can still appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CreateRace {
    /// It was there: if it is absent now, it is gone.
    Over,
    /// Nobody has seen it yet.
    Open,
}

/// What an answer to a removal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removal {
    /// Nothing more is done.
    Over(Fate),
    /// It is tried again.
    Again(CreateRace),
}

/// Removes a container by its name until the engine confirms that it is gone.
pub(super) fn ensure_gone(engine: &Engine, name: &ContainerName, race: CreateRace) -> Fate {
    let until = Instant::now() + engine.patience().appearance;
    let mut pause = Duration::from_millis(10);
    let mut race = race;
    loop {
        let time = if Instant::now() >= until { Time::Up } else { Time::Left };
        // An error means silence.
        match judge(engine.remove(name).ok().as_ref(), race, time) {
            Removal::Over(fate) => return fate,
            Removal::Again(next) => race = next,
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// An engine that says "removed" is asked again: only "no such container" is believed. One that
/// does not answer a command will not answer the next.
pub(super) fn judge(answer: Option<&RemoveAnswer>, race: CreateRace, time: Time) -> Removal {
    match (answer, race, time) {
        (Some(RemoveAnswer::Absent), CreateRace::Over, _)
        | (Some(RemoveAnswer::Absent), CreateRace::Open, Time::Up) => Removal::Over(Fate::Gone),
        (Some(RemoveAnswer::Absent), CreateRace::Open, Time::Left) => {
            Removal::Again(CreateRace::Open)
        }
        (Some(RemoveAnswer::Removed | RemoveAnswer::InProgress), _, Time::Left) => {
            Removal::Again(CreateRace::Over)
        }
        (Some(RemoveAnswer::Removed | RemoveAnswer::InProgress), _, Time::Up)
        | (Some(RemoveAnswer::Refused(_)) | None, _, _) => Removal::Over(Fate::Unconfirmed),
    }
}
