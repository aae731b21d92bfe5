//! One build of an image from this machine at a time, among all of its user's processes.
//!
//! Whoever waited finds the image made. Nothing breaks without a turn: the work is done twice then.

use std::env;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

/// How long a turn is waited for: longer than a build takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// How often it is looked whether the turn has come.
const POLL: Duration = Duration::from_millis(50);

/// The right to build, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _lock: Option<File>,
}

impl Turn {
    /// Waits for the turn. Where there can be none, because the file cannot be opened or somebody
    /// holds it for too long, it is taken anyway.
    pub(super) fn wait() -> Self {
        Self { _lock: open().filter(is_ours_in_time) }
    }
}

/// A file of this user's own; a link that somebody put into its place is not followed.
fn open() -> Option<File> {
    let name = format!("das-images-{}.lock", rustix::process::getuid().as_raw());
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600).custom_flags(flags);
    options.open(env::temp_dir().join(name)).ok()
}

fn is_ours_in_time(file: &File) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(POLL),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn only_one_has_the_turn() {
        let busy = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _turn = Turn::wait();
                    assert!(!busy.swap(true, Ordering::SeqCst), "two had the turn");
                    thread::yield_now();
                    busy.store(false, Ordering::SeqCst);
                });
            }
        });
    }
}
