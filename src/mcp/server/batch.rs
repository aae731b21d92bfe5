//! Where an answer goes: on a line of its own, or into the array that answers a batch.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::value::RawValue;

use super::outbox::Outbox;
use crate::mcp::rpc::{Response, body};

/// Answers to a batch are sent in parts of about this size, in bytes, so that no line comes
/// near what clients refuse to read.
const PART: usize = 4 * 1024 * 1024;

/// Where the answer to one request goes.
#[derive(Debug, Clone)]
pub(super) enum ReplyTo {
    /// On a line of its own.
    Line(Outbox),
    /// Into an array with its fellows.
    Batch(Arc<Batch>),
}

impl ReplyTo {
    pub(super) fn deliver(&self, response: &Response) {
        match self {
            Self::Line(outbox) => outbox.send(response),
            Self::Batch(batch) => batch.add(response),
        }
    }
}

/// The answers to a batch so far. They are sent when the last request lets go of it, answered
/// or cancelled.
#[derive(Debug)]
pub(super) struct Batch {
    outbox: Outbox,
    answers: Mutex<Vec<Box<RawValue>>>,
}

impl Batch {
    pub(super) fn new(outbox: Outbox) -> Arc<Self> {
        Arc::new(Self { outbox, answers: Mutex::default() })
    }

    fn add(&self, response: &Response) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push(body(response));
        if answers.iter().map(|answer| answer.get().len()).sum::<usize>() > PART {
            self.outbox.send(&std::mem::take(&mut *answers));
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !answers.is_empty() {
            self.outbox.send(answers);
        }
    }
}
