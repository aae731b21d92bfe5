//! Starts threads. A machine may have none left to give: that is an error like any other, and no
//! reason to panic with a container at work.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread that nobody has to wait for. The name is for debuggers; Linux shows 15 bytes.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(work)
}
