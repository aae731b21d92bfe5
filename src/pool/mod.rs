//! Parked containers: started ahead, each used once, none ever reused.
//!
//! A parked container runs exactly the command line that a cold run would, its interpreter
//! blocked on standard input. It has run nobody's code. It ends by itself when das dies, because
//! its standard input closes then. The pool knows plans and containers, not programs.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::plan::Plan;
use crate::plan::argv::Argv;
use crate::runner::{Fate, Launch, Waiting};
use crate::tag::{Owner, RunTag};
use crate::watchdog::{Guard, Watchdog};
use image_watch::ImageWatch;

mod image_watch;

/// The pause between two starts, so that refilling does not slow the calls that are running.
const REFILL_PACE: Duration = Duration::from_millis(50);

/// How long to leave an engine alone that could not start a container.
const FAILURE_PAUSE: Duration = Duration::from_secs(5);

/// How long all parked containers together may take to end when the pool goes. What is left then
/// is the watchdog's.
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

/// The parked containers of one process on one engine.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    engine: Engine,
    watchdog: Arc<Watchdog>,
    owner: Owner,
    size: Size,
    images: ImageWatch,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By language and image.
    shelves: HashMap<String, Shelf>,
    closing: bool,
    closed: bool,
    /// Nothing is started before this time.
    not_before: Option<Instant>,
}

#[derive(Debug)]
struct Shelf {
    plan: Plan,
    parked: Vec<Parked>,
    last_used: Instant,
}

/// A container that waits for a program.
#[derive(Debug)]
pub(crate) struct Parked {
    pub(crate) waiting: Waiting,
    pub(crate) guard: Guard,
    image_id: String,
    since: Instant,
}

impl Pool {
    /// An empty pool. Nothing is started until a language is asked for.
    pub fn new(engine: Engine, watchdog: Arc<Watchdog>, owner: Owner, size: Size) -> Self {
        let shared = Arc::new(Shared {
            images: ImageWatch::new(engine.clone()),
            engine,
            watchdog,
            owner,
            size,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let kept = Arc::clone(&shared);
        Self { keeper: Some(thread::spawn(move || kept.keep())), shared }
    }

    /// From now on containers for this plan are parked, in the background.
    pub fn expect(&self, plan: &Plan) {
        let mut state = self.shared.lock();
        let place = state.shelves.entry(shelf_key(plan)).or_insert_with(|| Shelf {
            plan: plan.clone(),
            parked: Vec::new(),
            last_used: Instant::now(),
        });
        place.last_used = Instant::now();
        self.shared.changed.notify_all();
    }

    /// A parked container for this plan, if one is alive and its image is still what the plan's
    /// reference stands for.
    pub(crate) fn claim(&self, plan: &Plan) -> Option<Parked> {
        let current_id = self.shared.images.is_suspect().then(|| self.shared.image_id(plan));
        let mut state = self.shared.lock();
        let place = state.shelves.get_mut(&shelf_key(plan))?;
        let current = |parked: &Parked| {
            parked.waiting.is_alive()
                && current_id.as_ref().is_none_or(|id| id.as_ref() == Some(&parked.image_id))
        };
        let index = place.parked.iter().position(current)?;
        Some(place.parked.remove(index))
    }
}

impl Pool {
    /// Begins to give back all containers, in the background. None is started any more.
    pub fn retire(&self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
    }

    /// Waits until they are given back, at most until `until`; whether they are.
    pub fn retired_by(&self, until: Instant) -> bool {
        let bound = until.saturating_duration_since(Instant::now());
        let open = |state: &mut State| !state.closed;
        let waited = self.shared.changed.wait_timeout_while(self.shared.lock(), bound, open);
        waited.unwrap_or_else(PoisonError::into_inner).0.closed
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.retire();
        if let Some(keeper) = self.keeper.take() {
            // A keeper that panicked has dropped its containers already.
            keeper.join().ok();
        }
    }
}

/// What the keeper does next.
enum Task {
    Start(Box<Plan>),
    GiveBack(Vec<Parked>),
    Recheck(Vec<Plan>),
    Close(Vec<Parked>),
}

impl Shared {
    /// The keeper's life: one thread that starts and gives back, so that a claim never waits.
    fn keep(&self) {
        loop {
            match self.next_task() {
                Task::Start(plan) => self.start(&plan),
                Task::GiveBack(parked) => parked.into_iter().for_each(give_back),
                Task::Recheck(plans) => plans.iter().for_each(|plan| self.recheck(plan)),
                Task::Close(parked) => {
                    close(parked);
                    self.lock().closed = true;
                    self.changed.notify_all();
                    return;
                }
            }
        }
    }

    fn next_task(&self) -> Task {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if state.closing {
                let shelves = state.shelves.drain();
                return Task::Close(shelves.flat_map(|(_, shelf)| shelf.parked).collect());
            }
            if self.images.is_suspect() && state.shelves.values().any(|it| !it.parked.is_empty()) {
                self.images.trust();
                return Task::Recheck(state.shelves.values().map(|it| it.plan.clone()).collect());
            }
            let unwanted = state.take_unwanted(now, self.size.idle);
            if !unwanted.is_empty() {
                return Task::GiveBack(unwanted);
            }
            if let Some(plan) = state.missing(now, self.size) {
                state.not_before = Some(now + REFILL_PACE);
                return Task::Start(Box::new(plan));
            }
            let pause = state.next_change(now, self.size);
            state =
                self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn start(&self, plan: &Plan) {
        let parked = self.image_id(plan).and_then(|image_id| self.park(plan, image_id));
        let mut state = self.lock();
        let place = state.shelves.get_mut(&shelf_key(plan));
        match (parked, place) {
            (Some(parked), Some(place)) => place.parked.push(parked),
            (Some(parked), None) => give_back(parked),
            // The image is missing or the engine is down: the run itself says so, and better.
            (None, _) => state.not_before = Some(Instant::now() + FAILURE_PAUSE),
        }
    }

    fn park(&self, plan: &Plan, image_id: String) -> Option<Parked> {
        let tag = RunTag::new(&self.owner, self.size.idle + plan.timeout());
        let guard = self.watchdog.guard(&tag.container()).ok()?;
        let launch = Launch {
            engine: self.engine.clone(),
            command: Argv::new(self.engine.facts(), plan, &tag).command_line(),
            tag,
            output_cap: self.size.output_cap,
        };
        let waiting = launch.start().ok()?;
        Some(Parked { waiting, guard, image_id, since: Instant::now() })
    }

    /// Gives back what was started from an image that its reference no longer stands for.
    fn recheck(&self, plan: &Plan) {
        let id = self.image_id(plan);
        let stale = {
            let mut state = self.lock();
            let place = state.shelves.get_mut(&shelf_key(plan));
            place.map(|place| place.take(|parked| Some(&parked.image_id) != id.as_ref()))
        };
        stale.into_iter().flatten().for_each(give_back);
    }

    fn image_id(&self, plan: &Plan) -> Option<String> {
        self.engine.image_id(plan.image()).ok().flatten()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What is dead, or has waited too long.
    fn take_unwanted(&mut self, now: Instant, idle: Duration) -> Vec<Parked> {
        let unwanted = |parked: &Parked| now >= parked.since + idle || !parked.waiting.is_alive();
        self.shelves.values_mut().flat_map(|shelf| shelf.take(unwanted)).collect()
    }

    /// The plan of a shelf that has room and has been used lately.
    fn missing(&self, now: Instant, size: Size) -> Option<Plan> {
        if self.not_before.is_some_and(|time| now < time) {
            return None;
        }
        let short = |shelf: &&Shelf| {
            shelf.parked.len() < size.containers && now < shelf.last_used + size.idle
        };
        self.shelves.values().find(short).map(|shelf| shelf.plan.clone())
    }

    /// How long nothing will have to be done.
    fn next_change(&self, now: Instant, size: Size) -> Duration {
        let expiries =
            self.shelves.values().flat_map(|shelf| &shelf.parked).map(|it| it.since + size.idle);
        let wanting = self
            .shelves
            .values()
            .any(|shelf| shelf.parked.len() < size.containers && now < shelf.last_used + size.idle);
        let start = self.not_before.filter(|time| wanting && *time > now);
        let next = expiries.chain(start).min();
        next.map_or(size.idle, |time| time.saturating_duration_since(now))
    }
}

impl Shelf {
    fn take(&mut self, which: impl Fn(&Parked) -> bool) -> Vec<Parked> {
        let (taken, kept) = std::mem::take(&mut self.parked).into_iter().partition(which);
        self.parked = kept;
        taken
    }
}

/// One policy gives a language and an image one command line, whatever the timeout.
fn shelf_key(plan: &Plan) -> String {
    format!("{} {}", plan.language(), plan.image())
}

fn give_back(parked: Parked) {
    match parked.waiting.give_back() {
        Fate::Gone => drop(parked.guard),
        Fate::Unconfirmed => parked.guard.keep(),
    }
}

/// Ends all of them at once; the watchdog takes what does not end in time.
fn close(mut parked: Vec<Parked>) {
    let until = Instant::now() + CLOSE_BOUND;
    for parked in &mut parked {
        parked.waiting.close();
    }
    for Parked { waiting, guard, .. } in parked {
        if waiting.ended_by(until) { drop(guard) } else { guard.keep() }
    }
}
