//! Sweeps now and then, off everybody's path.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::{Mode, sweep};
use crate::engine::Engine;

/// When to sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// How long to wait for the first time: a short run is over by then, and never pays for it.
    pub first: Duration,
    /// How long to wait between two times.
    pub pause: Duration,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), pause: Duration::from_mins(10) }
    }
}

/// Sweeps an engine for as long as it lives. Dropping it waits for nothing: a sweep that is under
/// way goes on alone, or ends with the process.
#[derive(Debug)]
pub struct Sweeper {
    _alive: Sender<()>,
}

impl Sweeper {
    /// Starts to sweep, on a thread of its own. Where no thread can be had nothing is swept.
    pub fn start(engine: Engine, rhythm: Rhythm) -> Self {
        let (alive, dropped) = mpsc::channel::<()>();
        let mut pause = rhythm.first;
        let work = move || {
            while dropped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                // An engine that cannot be asked is no business of this run's; the next may.
                sweep(&engine, Mode::Remove).ok();
                pause = rhythm.pause;
            }
        };
        thread::Builder::new().name("sweep".to_owned()).spawn(work).ok();
        Self { _alive: alive }
    }
}
