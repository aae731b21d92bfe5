//! Removes what dead owners left behind on an engine, and nothing else.
//!
//! Every container of das carries its owner and its expiry as labels. An owner in this process's
//! own world (the same boot of the same machine, the same process ids) can be looked for: if it is
//! gone, its containers go, in whichever state they are; if it lives, they are its own business.
//! An owner elsewhere cannot be looked for, because engines are shared by machines; its containers
//! go when they have expired. The sweep knows labels and processes, not runs.

mod background;
#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod judge;
mod listing;

use std::time::{SystemTime, UNIX_EPOCH};

pub use background::{Rhythm, Sweeper};
pub use judge::{Judgement, KeepReason, RemoveReason};
pub use listing::{Found, State};

use crate::engine::{Engine, ListError, RemoveAnswer};
use crate::tag::{LABEL, Owner};

/// Whether anything is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// What dead owners left is removed.
    Remove,
    /// Nothing is.
    Look,
}

/// One container, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The container.
    pub found: Found,
    /// What is thought of it.
    pub judgement: Judgement,
    /// What was done.
    pub done: Done,
}

/// What was done about a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// Nothing.
    Nothing,
    /// It was removed, by this sweep or by somebody else at the same time.
    Removed,
    /// It could not be removed, for this reason.
    Failed(String),
}

/// What a sweep came upon.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Every container of das on the engine.
    pub containers: Vec<Swept>,
    /// How many containers with das's label are not understood; they are left alone.
    pub not_understood: usize,
}

impl Sweep {
    /// Whether something could not be removed.
    pub fn failed(&self) -> bool {
        self.containers.iter().any(|swept| matches!(swept.done, Done::Failed(_)))
    }
}

/// Sweeps an engine once. Takes at most some seconds more than the engine takes to answer.
///
/// # Errors
///
/// The engine lists no containers: then nothing has been removed.
pub fn sweep(engine: &Engine, mode: Mode) -> Result<Sweep, ListError> {
    let listed = engine.list(LABEL, listing::FORMAT)?;
    let (found, not_understood) = listing::parse(&listed);
    let here = Owner::this_process();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut remover = Remover { engine, mode, silent: None };
    let containers = found.into_iter().map(|found| {
        let judgement = judge::judge(&found, &here, now, judge::process);
        let done = remover.act(&found, judgement);
        Swept { found, judgement, done }
    });
    Ok(Sweep { containers: containers.collect(), not_understood })
}

struct Remover<'a> {
    engine: &'a Engine,
    mode: Mode,
    /// The engine did not answer a command; it will not answer the next.
    silent: Option<String>,
}

impl Remover<'_> {
    fn act(&mut self, found: &Found, judgement: Judgement) -> Done {
        match (judgement, self.mode, &self.silent) {
            (Judgement::Keep(_), _, _) | (Judgement::Remove(_), Mode::Look, _) => Done::Nothing,
            (Judgement::Remove(_), Mode::Remove, Some(why)) => Done::Failed(why.clone()),
            (Judgement::Remove(_), Mode::Remove, None) => self.remove(found),
        }
    }

    fn remove(&mut self, found: &Found) -> Done {
        match self.engine.remove_id(&found.id) {
            // Absent or under way: its own das's watchdog, or another sweep, was quicker.
            Ok(RemoveAnswer::Removed | RemoveAnswer::Absent | RemoveAnswer::InProgress) => {
                Done::Removed
            }
            Ok(RemoveAnswer::Refused(why)) => Done::Failed(why),
            Err(error) => {
                self.silent = Some(error.to_string());
                Done::Failed(error.to_string())
            }
        }
    }
}
