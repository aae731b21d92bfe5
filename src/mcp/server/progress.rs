//! Tells a client that asked for it how long its call has been going on.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::calls::{Calls, Ticket};
use crate::mcp::protocol::{Call, Version};
use crate::mcp::rpc::{OutgoingNotification, RequestId};

/// No progress is sent this close before the deadline of a run, nor while it is being ended:
/// an answer is near.
const NEAR_THE_END: Duration = Duration::from_millis(500);
const BEING_ENDED: Duration = Duration::from_secs(2);

/// When progress is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// So long after the call came.
    pub(crate) first: Duration,
    /// And again each time so long after that.
    pub(crate) every: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), every: Duration::from_secs(5) }
    }
}

/// Whether a call still wants progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beat {
    Alive,
    Gone,
}

/// A call that is watched.
#[derive(Debug)]
pub(super) struct Watch {
    token: RequestId,
    version: Version,
    timeout: Duration,
    came: Instant,
    last: u64,
}

/// What `notifications/progress` carries.
#[derive(Debug, Serialize)]
pub(super) struct Progress {
    #[serde(rename = "progressToken")]
    token: RequestId,
    #[serde(rename = "progress")]
    amount: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

type Notification = OutgoingNotification<Progress>;

impl Watch {
    /// A call is watched where it brought a token.
    pub(super) fn of(call: &Call) -> Option<Self> {
        let token = call.progress_token.clone()?;
        Some(Self {
            token,
            version: call.version,
            timeout: call.job.timeout,
            came: Instant::now(),
            last: 0,
        })
    }

    /// Progress of a call that waits for its place.
    pub(super) fn queued(&mut self, before: usize) -> Notification {
        self.notification(None, format!("waiting for its turn, {before} before it"))
    }

    /// Progress of a call that runs, unless its end is near.
    pub(super) fn running(&mut self, since: Instant) -> Option<Notification> {
        let ran = since.elapsed();
        let ending =
            self.timeout.saturating_sub(NEAR_THE_END)..=self.timeout.saturating_add(BEING_ENDED);
        if ending.contains(&ran) {
            return None;
        }
        let whole = whole_seconds(self.timeout);
        let seconds = ran.as_secs();
        Some(if ran > self.timeout {
            // Time that does not count against the deadline, as when an image is fetched.
            self.notification(None, format!("running, {seconds} s"))
        } else {
            let queued = since.saturating_duration_since(self.came).as_secs();
            self.notification(Some(queued + whole), format!("running, {seconds} s of {whole} s"))
        })
    }

    /// Seconds since the call came, but always more than the last time.
    fn notification(&mut self, total: Option<u64>, message: String) -> Notification {
        self.last = self.came.elapsed().as_secs().max(self.last + 1);
        let progress = Progress {
            token: self.token.clone(),
            amount: self.last,
            total: total.filter(|total| *total > self.last),
            message: self.version.has_progress_messages().then_some(message),
        };
        OutgoingNotification::new("notifications/progress", progress)
    }
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// All calls that are watched, each with the time of its next progress.
#[derive(Debug)]
pub(super) struct Watches {
    pace: Pace,
    watches: Vec<(Instant, Ticket, Watch)>,
}

impl Watches {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, watches: Vec::new() }
    }

    pub(super) fn add(&mut self, ticket: Ticket, watch: Watch) {
        self.watches.push((watch.came + self.pace.first, ticket, watch));
    }

    /// When the next progress is to be sent.
    pub(super) fn due(&self) -> Option<Instant> {
        self.watches.iter().map(|(due, ..)| *due).min()
    }

    /// Sends what is due and forgets the calls that are gone.
    pub(super) fn report(&mut self, calls: &Calls) {
        let now = Instant::now();
        let every = self.pace.every;
        self.watches.retain_mut(|(due, ticket, watch)| {
            if *due > now {
                return true;
            }
            *due = now + every;
            calls.report(watch, ticket) == Beat::Alive
        });
    }
}
