//! Parked containers: started ahead, each used once, none ever reused.
//!
//! A parked container runs exactly the command line that a cold run would, its interpreter
//! blocked on standard input. It has run nobody's code. It ends by itself when das dies, because
//! its standard input closes then. The pool knows plans and containers, not programs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::plan::Plan;
use crate::tag::Owner;
use crate::threads;
use crate::watchdog::Watchdog;
use board::Board;
use image_watch::ImageWatch;
use keeper::Keeper;
pub(crate) use parked::Parked;

mod board;
mod image_watch;
mod keeper;
mod parked;

/// How long all parked containers together may take to end when the pool goes.
const CLOSE_BOUND: Duration = Duration::from_millis(700);

/// How many containers to park, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// For each language in use.
    pub containers: usize,
    /// How long one may wait unused before it is given back.
    pub idle: Duration,
    /// How many bytes of each output stream a run keeps.
    pub output_cap: usize,
}

/// The parked containers of one process on one engine. Dropping it gives them back.
#[derive(Debug)]
pub struct Pool {
    keeper: Arc<Keeper>,
    /// What is being given back because the pool retires.
    closing: Mutex<Vec<Parked>>,
}

/// A call for a container. While it lives, and for a moment at most, nothing is started that would
/// slow it.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The container, if one was parked.
    pub(crate) parked: Option<Parked>,
    /// Keeps the next start waiting.
    pub(crate) urgency: Option<Urgency>,
}

/// A call that is about to be answered.
#[derive(Debug)]
pub(crate) struct Urgency(Arc<Board>);

impl Pool {
    /// An empty pool. Nothing is started until a language is asked for.
    pub fn new(engine: Engine, watchdog: Arc<Watchdog>, owner: Owner, size: Size) -> Self {
        let board = Arc::new(Board::default());
        let images = ImageWatch::new(engine.clone(), Arc::clone(&board));
        let keeper = Arc::new(Keeper { board, engine, watchdog, owner, size, images });
        let working = Arc::clone(&keeper);
        // Without its thread nothing is ever parked, and every run starts a container of its own.
        threads::spawn("das-keeper", move || working.run()).ok();
        Self { keeper, closing: Mutex::default() }
    }

    /// From now on containers for this plan are parked, in the background.
    pub fn expect(&self, plan: &Plan) {
        self.board().lock().want(plan);
        self.board().wake();
    }

    /// A parked container for this plan, if one is alive and its image is still what the plan's
    /// reference stands for. The next one is started when the call has been answered; at once, if
    /// this one is itself still in its start.
    pub(crate) fn claim(&self, plan: &Plan) -> Claim {
        let parked = self.keeper.take(plan);
        let starting = parked.as_ref().is_some_and(|parked| !parked.is_ready());
        let urgency = (!starting).then(|| Urgency::new(self.board()));
        self.expect(plan);
        Claim { parked, urgency }
    }

    fn board(&self) -> &Arc<Board> {
        &self.keeper.board
    }
}

impl Pool {
    /// Begins to give back all containers. None is started any more.
    pub fn retire(&self) {
        let mut parked = self.board().lock().close();
        self.board().wake();
        parked.iter_mut().for_each(Parked::close);
        self.closing().extend(parked);
    }

    /// Waits until they are given back, at most until `until`; whether they are. The watchdog
    /// takes what does not end in time.
    pub fn retired_by(&self, until: Instant) -> bool {
        let parked = std::mem::take(&mut *self.closing());
        let ended: Vec<bool> = parked.into_iter().map(|parked| parked.ended_by(until)).collect();
        // What the keeper was at, a container that was just started not least.
        let done = self.board().is_done_by(until);
        done && ended.into_iter().all(|ended| ended)
    }

    fn closing(&self) -> MutexGuard<'_, Vec<Parked>> {
        self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.retire();
        self.retired_by(Instant::now() + CLOSE_BOUND);
    }
}

impl Urgency {
    fn new(board: &Arc<Board>) -> Self {
        board.lock().begin_urgent();
        Self(Arc::clone(board))
    }
}

impl Drop for Urgency {
    fn drop(&mut self) {
        self.0.lock().end_urgent();
        self.0.wake();
    }
}
