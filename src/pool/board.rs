//! What is parked, what is wanted and when: the state that callers and the keeper share.
//!
//! It decides; it starts and ends nothing.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Size;
use super::image_watch::Generation;
use super::parked::Parked;
use crate::plan::Plan;

/// The pause between two starts: more at once only take the processors from each other.
const START_PACE: Duration = Duration::from_millis(50);

/// How long calls that are about to be answered keep the next start waiting. A program that runs
/// longer does not mind.
const HOLD: Duration = Duration::from_millis(150);

/// A container of this age waits for its program; a younger one may still be in its start.
const READY_AGE: Duration = Duration::from_millis(200);

/// A container that ends before this age was never fit to be parked.
const INFANCY: Duration = Duration::from_secs(10);

/// How long to leave an engine alone that could not start a container.
const FAILURE_PAUSE: Duration = Duration::from_secs(5);

/// How often it is looked whether the parked containers are still alive.
const HEALTH_CHECK: Duration = Duration::from_secs(10);

/// The state, and how to wait for it to change.
#[derive(Debug, Default)]
pub(super) struct Board {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    shelves: Vec<Shelf>,
    closing: bool,
    /// When the last start began.
    started: Option<Instant>,
    /// Tasks that have been handed out and are not done.
    working: usize,
    /// Calls that are about to be answered, and when the last of them came.
    urgent: usize,
    last_urgent: Option<Instant>,
}

/// The containers of one command line.
#[derive(Debug)]
struct Shelf {
    plan: Plan,
    image: Option<ImageSeen>,
    parked: Vec<Parked>,
    last_used: Instant,
    not_before: Option<Instant>,
}

/// What an image reference stood for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ImageSeen {
    pub(super) id: String,
    /// When that was asked; None where nobody can tell whether it still holds.
    pub(super) at: Option<Generation>,
}

/// What the keeper does next.
#[derive(Debug)]
pub(super) enum Task {
    /// Start a container, from this image if that is still known.
    Start(Box<Plan>, Option<String>),
    /// End these.
    GiveBack(Vec<Parked>),
    /// Ask what these references stand for now.
    Recheck(Vec<Plan>),
}

/// A task that is not done yet, or a part of it.
#[derive(Debug)]
pub(super) struct Work(Arc<Board>);

/// Whether a container could be found without a question to the engine.
pub(super) enum Found {
    /// Here it is.
    Taken(Box<Parked>),
    /// Only if its image is still what the reference stands for.
    Unsure,
    /// There is none.
    Nothing,
}

impl Board {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the keeper look again.
    pub(super) fn wake(&self) {
        // Under the lock, so that a keeper which has just looked is not missed.
        let _state = self.lock();
        self.changed.notify_all();
    }

    /// Waits for something to do; None when there will be nothing, ever again.
    pub(super) fn next_task(
        self: &Arc<Self>,
        size: Size,
        generation: impl Fn() -> Option<Generation>,
    ) -> Option<(Task, Work)> {
        let mut state = self.lock();
        while !state.closing {
            let now = Instant::now();
            if let Some(task) = state.task(now, size, generation()) {
                // Under the same lock: a pool that closes now waits for it.
                state.working += 1;
                return Some((task, Work(Arc::clone(self))));
            }
            let pause = state.next_change(now, size);
            state =
                self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    /// Waits until every task is done, at most until this time; whether they are.
    pub(super) fn is_done_by(&self, until: Instant) -> bool {
        let bound = until.saturating_duration_since(Instant::now());
        let busy = |state: &mut State| state.working > 0;
        let waited = self.changed.wait_timeout_while(self.lock(), bound, busy);
        waited.unwrap_or_else(PoisonError::into_inner).0.working == 0
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.lock().working -= 1;
        self.0.wake();
    }
}

impl State {
    /// Says that containers for this plan are wanted.
    pub(super) fn want(&mut self, plan: &Plan) {
        if self.closing {
            return;
        }
        let now = Instant::now();
        match self.shelf(plan) {
            Some(shelf) => shelf.last_used = now,
            None => self.shelves.push(Shelf {
                plan: plan.clone(),
                image: None,
                parked: Vec::new(),
                last_used: now,
                not_before: None,
            }),
        }
    }

    /// Takes the oldest container that is alive and whose image is known to be current.
    pub(super) fn take(&mut self, plan: &Plan, generation: Option<Generation>) -> Found {
        let Some(shelf) = self.shelf(plan) else { return Found::Nothing };
        let Some(first) = shelf.parked.iter().position(Parked::is_alive) else {
            return Found::Nothing;
        };
        if generation.is_some() && shelf.image.as_ref().is_some_and(|seen| seen.at == generation) {
            Found::Taken(Box::new(shelf.parked.remove(first)))
        } else {
            Found::Unsure
        }
    }

    /// Takes the oldest container that is alive and was made from this image.
    pub(super) fn take_of(&mut self, plan: &Plan, image_id: &str) -> Option<Parked> {
        let shelf = self.shelf(plan)?;
        let fit = |parked: &Parked| parked.is_alive() && parked.image_id == image_id;
        let first = shelf.parked.iter().position(fit)?;
        Some(shelf.parked.remove(first))
    }

    /// Puts a container on its shelf, unless the pool is closing.
    #[expect(clippy::result_large_err, reason = "the refused container has to be given back")]
    pub(super) fn put(&mut self, plan: &Plan, parked: Parked) -> Result<(), Parked> {
        match self.shelf(plan) {
            Some(shelf) => {
                shelf.parked.push(parked);
                Ok(())
            }
            None => Err(parked),
        }
    }

    /// Notes what a reference stands for, and takes what was made from anything else.
    pub(super) fn see(&mut self, plan: &Plan, seen: Option<ImageSeen>) -> Vec<Parked> {
        let Some(shelf) = self.shelf(plan) else { return Vec::new() };
        let id = seen.as_ref().map(|seen| seen.id.clone());
        shelf.image = seen;
        shelf.take(|parked| Some(&parked.image_id) != id.as_ref())
    }

    /// Leaves a plan alone for a while whose container could not be started.
    pub(super) fn pause(&mut self, plan: &Plan) {
        if let Some(shelf) = self.shelf(plan) {
            shelf.not_before = Some(Instant::now() + FAILURE_PAUSE);
        }
    }

    /// A call that is about to be answered has come, or has been answered.
    pub(super) fn begin_urgent(&mut self) {
        self.urgent += 1;
        self.last_urgent = Some(Instant::now());
    }

    pub(super) fn end_urgent(&mut self) {
        self.urgent -= 1;
    }

    /// Ends the pool and takes all that is parked.
    pub(super) fn close(&mut self) -> Vec<Parked> {
        self.closing = true;
        self.shelves.drain(..).flat_map(|shelf| shelf.parked).collect()
    }

    /// There are as many shelves as languages, so that a search costs nothing.
    fn shelf(&mut self, plan: &Plan) -> Option<&mut Shelf> {
        self.shelves.iter_mut().find(|shelf| shelf.plan.has_same_command_line(plan))
    }

    fn task(&mut self, now: Instant, size: Size, current: Option<Generation>) -> Option<Task> {
        let unwanted = self.take_unwanted(now, size.idle);
        if !unwanted.is_empty() {
            return Some(Task::GiveBack(unwanted));
        }
        let old = |shelf: &&Shelf| {
            current.is_some()
                && !shelf.parked.is_empty()
                && shelf.image.as_ref().is_none_or(|seen| seen.at != current)
        };
        let old: Vec<Plan> =
            self.shelves.iter().filter(old).map(|shelf| shelf.plan.clone()).collect();
        if !old.is_empty() {
            return Some(Task::Recheck(old));
        }
        if self.next_start(now).is_some_and(|time| now < time) {
            return None;
        }
        let shelf = self.shelves.iter().find(|shelf| shelf.is_short(now, size))?;
        let image = shelf.image.as_ref().filter(|seen| current.is_some() && seen.at == current);
        self.started = Some(now);
        Some(Task::Start(Box::new(shelf.plan.clone()), image.map(|seen| seen.id.clone())))
    }

    /// What is dead, or has waited too long.
    fn take_unwanted(&mut self, now: Instant, idle: Duration) -> Vec<Parked> {
        let mut unwanted = Vec::new();
        for shelf in &mut self.shelves {
            let dead = shelf.take(|parked| !parked.is_alive());
            if dead.iter().any(|parked| now < parked.since + INFANCY) {
                shelf.not_before = Some(now + FAILURE_PAUSE);
            }
            unwanted.extend(dead);
            unwanted.extend(shelf.take(|parked| now >= parked.since + idle));
        }
        unwanted
    }

    /// Before this time nothing is started, whatever is wanted.
    fn next_start(&self, now: Instant) -> Option<Instant> {
        let held = self.last_urgent.filter(|_| self.urgent > 0).map(|last| last + HOLD);
        let paced = self.started.map(|started| started + START_PACE);
        held.max(paced).filter(|time| *time > now)
    }

    /// How long nothing will have to be done.
    fn next_change(&self, now: Instant, size: Size) -> Duration {
        let parked = self.shelves.iter().flat_map(|shelf| &shelf.parked);
        let expiries = parked.map(|it| (it.since + size.idle).min(now + HEALTH_CHECK));
        let starts = self.shelves.iter().filter_map(|shelf| {
            let wanted = shelf.is_wanted(now, size);
            let next = self.next_start(now).max(shelf.not_before).unwrap_or(now);
            wanted.then_some(next)
        });
        let next = expiries.chain(starts).min();
        next.map_or(size.idle, |time| time.saturating_duration_since(now))
    }
}

impl Shelf {
    /// Whether it has been used lately and has room.
    fn is_wanted(&self, now: Instant, size: Size) -> bool {
        self.parked.len() < size.containers && now < self.last_used + size.idle
    }

    fn is_short(&self, now: Instant, size: Size) -> bool {
        self.is_wanted(now, size) && self.not_before.is_none_or(|time| now >= time)
    }

    fn take(&mut self, which: impl Fn(&Parked) -> bool) -> Vec<Parked> {
        let (taken, kept) = std::mem::take(&mut self.parked).into_iter().partition(which);
        self.parked = kept;
        taken
    }
}

impl Parked {
    /// Whether it has had the time to start.
    pub(super) fn is_ready(&self) -> bool {
        self.since.elapsed() >= READY_AGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::CheckedPolicy;
    use crate::policy::SandboxPolicy;

    #[test]
    fn a_pool_that_closes_waits_for_the_container_that_is_being_started() {
        let size = Size { containers: 1, idle: Duration::from_mins(1), output_cap: 1 };
        let board = Arc::new(Board::default());
        let plan = CheckedPolicy::new(SandboxPolicy::default()).unwrap().plan("python").unwrap();
        board.lock().want(&plan);
        let (task, work) = board.next_task(size, || None).expect("a start");
        assert!(matches!(task, Task::Start(..)));
        assert!(board.lock().close().is_empty());
        assert!(!board.is_done_by(Instant::now()));
        drop(work);
        assert!(board.is_done_by(Instant::now()));
        assert!(board.next_task(size, || None).is_none());
    }
}
