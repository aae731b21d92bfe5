//! Runs calls, one at a time on each thread; a thread ends when no call waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use super::calls::Started;
use super::{Shared, internal_error};
use crate::mcp::protocol;
use crate::mcp::rpc::{ErrorObject, code};

/// Runs a call, and then those that wait, on a thread of its own.
pub(super) fn start(shared: &Arc<Shared>, started: Started) {
    let ticket = started.ticket.clone();
    let theirs = Arc::clone(shared);
    let spawned = thread::Builder::new()
        .name("das-mcp-call".to_owned())
        .spawn(move || work(&theirs, started));
    if let Err(error) = spawned {
        let message = format!("cannot start a thread for the call: {error}");
        shared.calls.answer(&ticket, Err(ErrorObject::new(code::INTERNAL_ERROR, message)));
        shared.calls.give_up_place();
    }
}

fn work(shared: &Shared, first: Started) {
    let mut next = Some(first);
    while let Some(started) = next {
        // A call that was cancelled since it got its place must not start a container first.
        if started.stopper.cause().is_none() {
            run(shared, &started);
        }
        next = shared.calls.next();
    }
}

fn run(shared: &Shared, started: &Started) {
    let Started { ticket, call, stopper } = started;
    let result = catch_unwind(AssertUnwindSafe(|| {
        protocol::call(call.version, &shared.tool.run(&call.job, stopper))
    }));
    thread::sleep(shared.calls.quiet(ticket));
    shared.calls.answer(ticket, result.map_err(|_panic| internal_error()));
}
