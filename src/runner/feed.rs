//! Writes the program into its interpreter, from a thread that nobody waits for.

use std::io::{self, Write};
use std::sync::Arc;

use crate::threads;

/// Starts to feed. A program that ends without reading it all breaks the pipe, which is no error;
/// one that never reads leaves the thread blocked until its client has ended.
pub(super) fn feed(stdin: impl Write + Send + 'static, code: Arc<[u8]>) -> io::Result<()> {
    threads::spawn("das-feed", move || {
        let mut stdin = stdin;
        // What was not read is the program's own affair: its end tells whether that mattered.
        stdin.write_all(&code).and_then(|()| stdin.flush()).ok();
    })?;
    Ok(())
}
