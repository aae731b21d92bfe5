//! Notices that the client has died although das's input stays open, because another process
//! holds its other end.

use std::time::Duration;
use std::{io, thread};

use rustix::process::{Pid, getppid};

use crate::mcp::ServerStopper;
use crate::threads;

/// Wrappers that start das and go are gone by then: whoever is the parent now is the client.
const SETTLED: Duration = Duration::from_secs(5);

/// How often it is looked for.
const POLL: Duration = Duration::from_secs(1);

/// Stops the server when its parent has changed, which only happens when the parent dies.
pub(super) fn stop_when_gone(stopper: ServerStopper) -> io::Result<()> {
    threads::spawn("das-parent", move || {
        thread::sleep(SETTLED);
        let parent = getppid();
        // A process that init started outlives nobody.
        if parent.is_none_or(Pid::is_init) {
            return;
        }
        while getppid() == parent {
            thread::sleep(POLL);
        }
        stopper.stop();
    })?;
    Ok(())
}
