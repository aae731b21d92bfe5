//! Makes sure that a container is gone after a client that may have left it.

use std::thread;
use std::time::{Duration, Instant};

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

/// Removes a container by its name until the engine confirms that it is gone. An engine that says
/// "removed" is asked again: only "no such container" is believed.
pub(super) fn ensure_gone(engine: &Engine, name: &ContainerName, race: CreateRace) -> Fate {
    let until = Instant::now() + engine.patience().appearance;
    let mut pause = Duration::from_millis(10);
    let mut race = race;
    loop {
        let late = Instant::now() >= until;
        match engine.remove(name) {
            Ok(RemoveAnswer::Absent) if late || race == CreateRace::Over => return Fate::Gone,
            Ok(RemoveAnswer::Removed | RemoveAnswer::InProgress) if !late => {
                race = CreateRace::Over;
            }
            Ok(RemoveAnswer::Absent) => {}
            Ok(RemoveAnswer::Removed | RemoveAnswer::InProgress | RemoveAnswer::Refused(_)) => {
                return Fate::Unconfirmed;
            }
            // An engine that does not answer a command will not answer the next.
            Err(_) => return Fate::Unconfirmed,
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
