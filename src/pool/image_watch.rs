//! Notices when an image reference may have come to stand for something else.
//!
//! Asking the engine at every claim would cost half of what a parked container saves. So one
//! client follows the engine's image events in the background: what was asked after the last of
//! them still holds. It knows that something has changed, not what.

use std::io::{self, BufRead as _, BufReader};
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::board::Board;
use crate::engine::Engine;
use crate::engine::command::CommandLine;
use crate::threads;

/// Follows the events for as long as somebody holds the other end of its standard input: a client
/// alone would outlive a killed das for ever.
const SCRIPT: &str = r#"
"$0" events --since "$1" --filter type=image --format '{{json .}}' 2>/dev/null </dev/null &
exec >/dev/null
read -r _
kill $!
"#;

/// How long an engine is left alone that does not let its events be followed.
const RETRY_PAUSE: Duration = Duration::from_secs(10);

/// How many changes there have been. An answer about an image holds for as long as this stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Generation(u64);

/// Follows the image events of one engine.
#[derive(Debug)]
pub(super) struct ImageWatch {
    engine: Engine,
    board: Arc<Board>,
    changes: Arc<AtomicU64>,
    stream: Mutex<Stream>,
}

#[derive(Debug, Default)]
struct Stream {
    follower: Option<Follower>,
    tried: Option<Instant>,
}

/// A stream of events. Dropping it ends the stream.
#[derive(Debug)]
struct Follower {
    ended: Arc<AtomicBool>,
    _stdin: ChildStdin,
}

impl ImageWatch {
    /// A watch that has not begun.
    pub(super) fn new(engine: Engine, board: Arc<Board>) -> Self {
        Self { engine, board, changes: Arc::default(), stream: Mutex::default() }
    }

    /// To be asked before the engine is asked about an image. None where nobody follows the
    /// events: then every answer is old at once.
    pub(super) fn generation(&self) -> Option<Generation> {
        let stream = self.lock();
        stream.is_open().then(|| Generation(self.changes.load(Ordering::SeqCst)))
    }

    /// Begins to follow, unless somebody does or it has just failed.
    pub(super) fn follow(&self) {
        let mut stream = self.lock();
        let lately = stream.tried.is_some_and(|tried| tried.elapsed() < RETRY_PAUSE);
        if stream.is_open() || lately {
            return;
        }
        stream.tried = Some(Instant::now());
        // What cannot be followed is asked for at every claim.
        stream.follower = self.start().ok();
    }

    fn lock(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> io::Result<Follower> {
        // From a time before this call, so that no event falls between the question and the answer.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let since = now.saturating_sub(1).to_string();
        let program = self.engine.facts().program.as_str();
        let line = CommandLine {
            env: self.engine.facts().env.clone(),
            ..CommandLine::new("/bin/sh", ["-c", SCRIPT, program, &since])
        };
        let mut command = line.to_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // It must not keep a directory busy.
        let mut child = command.current_dir("/").spawn()?;
        let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let ended = Arc::new(AtomicBool::new(false));
        let (ending, changes, board) =
            (Arc::clone(&ended), Arc::clone(&self.changes), Arc::clone(&self.board));
        threads::spawn("das-images", move || {
            for line in BufReader::new(stdout).split(b'\n') {
                if line.is_err() {
                    break;
                }
                changes.fetch_add(1, Ordering::SeqCst);
                board.wake();
            }
            ending.store(true, Ordering::SeqCst);
            board.wake();
            // Reaped here, so that no zombie is left; its status says nothing.
            child.wait().ok();
        })?;
        Ok(Follower { ended, _stdin: stdin })
    }
}

impl Stream {
    fn is_open(&self) -> bool {
        self.follower.as_ref().is_some_and(|follower| !follower.ended.load(Ordering::SeqCst))
    }
}
