//! The thread that starts containers and gives them back, so that no caller ever waits for it.

use std::sync::{Arc, mpsc};
use std::time::Instant;

use super::Size;
use super::board::{Board, Found, ImageSeen, Task, Work};
use super::image_watch::ImageWatch;
use super::parked::Parked;
use crate::engine::Engine;
use crate::plan::Plan;
use crate::plan::argv::Argv;
use crate::runner::Launch;
use crate::tag::{Owner, RunTag};
use crate::threads;
use crate::watchdog::Watchdog;

/// What it takes to start a container and to know that it is still the right one.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) board: Arc<Board>,
    pub(super) engine: Engine,
    pub(super) watchdog: Arc<Watchdog>,
    pub(super) owner: Owner,
    pub(super) size: Size,
    pub(super) images: ImageWatch,
}

impl Keeper {
    /// Works until the board is closed.
    pub(super) fn run(&self) {
        while let Some((task, work)) = self.board.next_task(self.size, || self.images.generation())
        {
            match task {
                Task::Start(plan, image) => self.start(&plan, image, work),
                Task::GiveBack(parked) => give_back(parked, work),
                Task::Recheck(plans) => give_back(self.recheck(&plans), work),
            }
        }
    }

    /// Takes a parked container for this plan. Only where the image may have changed, the engine
    /// is asked first.
    pub(super) fn take(&self, plan: &Plan) -> Option<Parked> {
        let found = self.board.lock().take(plan, self.images.generation());
        match found {
            Found::Taken(parked) => Some(*parked),
            Found::Unsure => {
                // Asked without the lock: the engine may take its time.
                let id = self.image_id(plan)?;
                self.board.lock().take_of(plan, &id)
            }
            Found::Nothing => None,
        }
    }

    fn start(&self, plan: &Plan, image: Option<String>, work: Work) {
        let (image, stale) = match image {
            Some(id) => (Some(id), Vec::new()),
            None => self.look(plan),
        };
        let parked = image.and_then(|id| self.park(plan, id));
        let mut state = self.board.lock();
        let refused = if let Some(parked) = parked {
            state.put(plan, parked).err()
        } else {
            // The image is missing or the engine is down: the run itself says so, and better.
            state.pause(plan);
            None
        };
        drop(state);
        give_back(stale.into_iter().chain(refused).collect(), work);
    }

    fn recheck(&self, plans: &[Plan]) -> Vec<Parked> {
        plans.iter().flat_map(|plan| self.look(plan).1).collect()
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

    /// Asks what the reference stands for, and parts with what was made from anything else.
    fn look(&self, plan: &Plan) -> (Option<String>, Vec<Parked>) {
        self.images.follow();
        let at = self.images.generation();
        let id = self.image_id(plan);
        let seen = id.clone().map(|id| ImageSeen { id, at });
        (id, self.board.lock().see(plan, seen))
    }

    fn image_id(&self, plan: &Plan) -> Option<String> {
        self.engine.image_id(plan.image()).ok().flatten()
    }
}

/// Each on a thread of its own: one that does not end in time must hold up neither the others nor
/// the next start.
fn give_back(parked: Vec<Parked>, work: Work) {
    let work = Arc::new(work);
    for parked in parked {
        let work = Arc::clone(&work);
        let (give, given) = mpsc::channel::<Parked>();
        let taken = threads::spawn("das-give-back", move || {
            given.into_iter().for_each(Parked::give_back);
            drop(work);
        });
        let refused = match taken {
            Ok(_) => give.send(parked).err().map(|refused| refused.0),
            Err(_) => Some(parked),
        };
        // Where there is no thread for it, this one has to wait.
        refused.into_iter().for_each(Parked::give_back);
    }
}
