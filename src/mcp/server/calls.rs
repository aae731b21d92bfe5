//! The table of open requests: those that run, those that wait for a place, and subscriptions.
//!
//! A request is taken out of the table and answered under one lock, and progress is sent under
//! the same lock: so nothing is ever sent for a request that was cancelled or answered.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::batch::ReplyTo;
use super::outbox::Outbox;
use super::progress::{Beat, Watch};
use crate::mcp::protocol::{Call, subscription_acknowledged, subscription_ended};
use crate::mcp::rpc::{ErrorObject, Reply, RequestId, Response, code};
use crate::outcome::classify::StopCause;
use crate::runner::Stopper;

/// The most requests that may be open at once.
pub(super) const MOST_OPEN: usize = 1024;

/// The most code that may wait for a place, in bytes.
const MOST_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// Some clients take progress that arrives in one read with the answer for an error: so long
/// an answer keeps away from it.
const QUIET: Duration = Duration::from_millis(50);

/// One registration of an id; the number tells it from later ones of the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ticket {
    id: RequestId,
    number: u64,
}

/// A call that has its place and is to be run now.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) ticket: Ticket,
    pub(super) call: Call,
    pub(super) stopper: Stopper,
}

/// What became of a call that was put in the table.
#[derive(Debug)]
pub(super) enum Entered {
    /// It has its place: run it.
    Started(Box<Started>),
    /// A place will come free.
    Waiting,
    /// It cannot be taken.
    Refused(ErrorObject),
}

/// Whether open subscriptions are told of the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Farewell {
    Said,
    Unsaid,
}

#[derive(Debug)]
pub(super) struct Calls {
    table: Mutex<Table>,
    idle: Condvar,
    places: usize,
    outbox: Outbox,
}

#[derive(Debug, Default)]
struct Table {
    closed: bool,
    entries: HashMap<RequestId, Entry>,
    waiting: VecDeque<Ticket>,
    waiting_bytes: usize,
    running: usize,
    last_number: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    state: State,
    reply_to: ReplyTo,
    last_progress: Option<Instant>,
}

#[derive(Debug)]
enum State {
    Subscribed,
    Waiting(Box<Call>),
    Running { since: Instant, stopper: Stopper },
}

impl Calls {
    /// A table with so many places for calls that run at once.
    pub(super) fn new(places: usize, outbox: Outbox) -> Self {
        Self { table: Mutex::default(), idle: Condvar::new(), places, outbox }
    }

    /// Every change is complete before anything can panic, so a poisoned table is sound.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request of this id has not been answered yet.
    pub(super) fn is_open(&self, id: &RequestId) -> bool {
        self.lock().entries.contains_key(id)
    }

    /// Puts a call in the table and gives it a place, if one is free.
    pub(super) fn enter(&self, id: RequestId, call: Call, reply_to: ReplyTo) -> (Ticket, Entered) {
        let mut table = self.lock();
        let ticket = table.ticket(id);
        if let Some(error) = table.refusal(call.job.code.len()) {
            return (ticket, Entered::Refused(error));
        }
        if table.running < self.places {
            table.running += 1;
            let started = table.start(ticket.clone(), call, reply_to);
            (ticket, Entered::Started(Box::new(started)))
        } else {
            table.wait(&ticket, call, reply_to);
            (ticket, Entered::Waiting)
        }
    }

    /// The next call for a worker that has done its last; without one the worker gives up its
    /// place and must end.
    pub(super) fn next(&self) -> Option<Started> {
        let mut table = self.lock();
        let next = table.next_waiting();
        if next.is_none() {
            self.release(&mut table);
        }
        next
    }

    /// Gives up the place of a call that could not be started.
    pub(super) fn give_up_place(&self) {
        self.release(&mut self.lock());
    }

    fn release(&self, table: &mut Table) {
        table.running -= 1;
        self.idle.notify_all();
    }

    /// Answers a call, unless it was cancelled meanwhile.
    pub(super) fn answer(&self, ticket: &Ticket, reply: Reply) {
        let mut table = self.lock();
        if table.entry(ticket).is_some()
            && let Some(entry) = table.entries.remove(&ticket.id)
        {
            entry.reply_to.deliver(&Response::new(Some(ticket.id.clone()), reply));
        }
    }

    /// How long the answer to a call must wait to keep away from its progress.
    pub(super) fn quiet(&self, ticket: &Ticket) -> Duration {
        let mut table = self.lock();
        let last = table.entry(ticket).and_then(|entry| entry.last_progress);
        last.map_or(Duration::ZERO, |last| QUIET.saturating_sub(last.elapsed()))
    }

    /// Forgets a request and stops what it runs. Unknown ids are those of answers under way.
    pub(super) fn cancel(&self, id: &RequestId) {
        let entry = self.lock().remove(id);
        if let Some(entry) = entry {
            entry.stop();
        }
    }

    /// Keeps a subscription open and says so.
    pub(super) fn subscribe(&self, id: RequestId, reply_to: ReplyTo) -> Result<(), ErrorObject> {
        let mut table = self.lock();
        if let Some(error) = table.refusal(0) {
            return Err(error);
        }
        self.outbox.send(&subscription_acknowledged(&id));
        let ticket = table.ticket(id);
        table.insert(&ticket, State::Subscribed, reply_to);
        Ok(())
    }

    /// Sends progress of a call, if it is open and there is something to say.
    pub(super) fn report(&self, watch: &mut Watch, ticket: &Ticket) -> Beat {
        let mut table = self.lock();
        let before = table.place_in_queue(ticket);
        let Some(entry) = table.entry(ticket) else { return Beat::Gone };
        let progress = match &entry.state {
            State::Subscribed => None,
            State::Waiting(_) => Some(watch.queued(before)),
            State::Running { since, .. } => watch.running(*since),
        };
        if let Some(progress) = progress {
            self.outbox.send(&progress);
            entry.last_progress = Some(Instant::now());
        }
        Beat::Alive
    }

    /// Takes no more calls, cancels all there are and ends all subscriptions.
    pub(super) fn close(&self, farewell: Farewell) {
        let entries = self.lock().close();
        for (id, entry) in entries {
            if farewell == Farewell::Said && matches!(entry.state, State::Subscribed) {
                let ended = Response::new(Some(id.clone()), Ok(subscription_ended(&id)));
                entry.reply_to.deliver(&ended);
            }
            entry.stop();
        }
    }

    /// Waits until nothing runs, at most until `deadline`; how many calls still do.
    pub(super) fn wait_idle(&self, deadline: Instant) -> usize {
        let bound = deadline.saturating_duration_since(Instant::now());
        let busy = |table: &mut Table| table.running > 0;
        let waited = self.idle.wait_timeout_while(self.lock(), bound, busy);
        waited.unwrap_or_else(PoisonError::into_inner).0.running
    }
}

impl Table {
    fn ticket(&mut self, id: RequestId) -> Ticket {
        self.last_number += 1;
        Ticket { id, number: self.last_number }
    }

    fn refusal(&self, code_bytes: usize) -> Option<ErrorObject> {
        let refuse = |why: String| Some(ErrorObject::new(code::INTERNAL_ERROR, why));
        if self.closed {
            return refuse("das is ending".to_owned());
        }
        if self.entries.len() >= MOST_OPEN {
            return refuse(format!("{MOST_OPEN} requests are open already; wait for answers"));
        }
        if self.waiting_bytes + code_bytes > MOST_WAITING_BYTES {
            return refuse("too much code is waiting to run already; wait for answers".to_owned());
        }
        None
    }

    fn insert(&mut self, ticket: &Ticket, state: State, reply_to: ReplyTo) {
        let entry = Entry { number: ticket.number, state, reply_to, last_progress: None };
        self.entries.insert(ticket.id.clone(), entry);
    }

    fn start(&mut self, ticket: Ticket, call: Call, reply_to: ReplyTo) -> Started {
        let stopper = Stopper::default();
        let state = State::Running { since: Instant::now(), stopper: stopper.clone() };
        self.insert(&ticket, state, reply_to);
        Started { ticket, call, stopper }
    }

    fn wait(&mut self, ticket: &Ticket, call: Call, reply_to: ReplyTo) {
        self.waiting_bytes += call.job.code.len();
        self.waiting.push_back(ticket.clone());
        self.insert(ticket, State::Waiting(Box::new(call)), reply_to);
    }

    fn next_waiting(&mut self) -> Option<Started> {
        let ticket = self.waiting.front()?.clone();
        let entry = self.remove(&ticket.id)?;
        match entry.state {
            State::Waiting(call) => {
                let last_progress = entry.last_progress;
                let started = self.start(ticket, *call, entry.reply_to);
                self.entry(&started.ticket)?.last_progress = last_progress;
                Some(started)
            }
            State::Subscribed | State::Running { .. } => None,
        }
    }

    /// Takes a request out, and out of the queue if it waits.
    fn remove(&mut self, id: &RequestId) -> Option<Entry> {
        let entry = self.entries.remove(id)?;
        if let State::Waiting(call) = &entry.state {
            self.waiting_bytes -= call.job.code.len();
            self.waiting.retain(|ticket| ticket.number != entry.number);
        }
        Some(entry)
    }

    fn entry(&mut self, ticket: &Ticket) -> Option<&mut Entry> {
        self.entries.get_mut(&ticket.id).filter(|entry| entry.number == ticket.number)
    }

    /// How many calls wait before this one.
    fn place_in_queue(&self, ticket: &Ticket) -> usize {
        self.waiting.iter().take_while(|waiting| *waiting != ticket).count()
    }

    fn close(&mut self) -> HashMap<RequestId, Entry> {
        self.closed = true;
        self.waiting.clear();
        self.waiting_bytes = 0;
        std::mem::take(&mut self.entries)
    }
}

impl Entry {
    fn stop(&self) {
        match &self.state {
            State::Running { stopper, .. } => stopper.stop(StopCause::Caller),
            State::Waiting(_) | State::Subscribed => {}
        }
    }
}
