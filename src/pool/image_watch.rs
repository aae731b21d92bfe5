//! Notices when an image reference may have come to stand for something else.
//!
//! Asking the engine at every claim would cost half of what a parked container saves. So one
//! client follows the engine's image events in the background, and only after one, or when the
//! stream has ended, is an image suspect until somebody has asked.

use std::io::{BufRead as _, BufReader};
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::engine::Engine;
use crate::engine::command::CommandLine;

/// Follows the events for as long as somebody holds the other end of its standard input: a client
/// alone would outlive a killed das for ever.
const SCRIPT: &str = r#"
"$0" events --since "$1" --filter type=image --format '{{json .}}' 2>/dev/null &
exec >/dev/null
read -r _
kill $!
"#;

/// Follows the image events of one engine.
#[derive(Debug)]
pub(super) struct ImageWatch {
    engine: Engine,
    suspect: Arc<AtomicBool>,
    follower: Mutex<Option<Follower>>,
}

/// A stream of events. Dropping it ends the stream.
#[derive(Debug)]
struct Follower {
    ended: Arc<AtomicBool>,
    _stdin: ChildStdin,
}

impl ImageWatch {
    /// A watch that has not begun: every image is suspect.
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, suspect: Arc::new(AtomicBool::new(true)), follower: Mutex::default() }
    }

    /// Whether an image may have changed since it was last looked at.
    pub(super) fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::SeqCst)
    }

    /// To be called before looking at the images: a change from now on makes them suspect again.
    /// Without a stream of events they stay suspect.
    pub(super) fn trust(&self) {
        let follower = self.follow();
        let follows = follower.as_ref().is_some_and(|it| !it.ended.load(Ordering::SeqCst));
        self.suspect.store(!follows, Ordering::SeqCst);
    }

    /// Starts a stream of events, unless there is one.
    fn follow(&self) -> MutexGuard<'_, Option<Follower>> {
        let mut follower = self.follower.lock().unwrap_or_else(PoisonError::into_inner);
        if follower.as_ref().is_none_or(|it| it.ended.load(Ordering::SeqCst)) {
            *follower = self.start();
        }
        follower
    }

    fn start(&self) -> Option<Follower> {
        // From a time before this call, so that no event falls between the question and the answer.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let since = now.saturating_sub(1).to_string();
        let program = self.engine.facts().program.as_str();
        let line = CommandLine {
            env: self.engine.facts().env.clone(),
            ..CommandLine::new("sh", ["-c", SCRIPT, program, &since])
        };
        let mut command = line.to_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let ended = Arc::new(AtomicBool::new(false));
        let (suspect, ending) = (Arc::clone(&self.suspect), Arc::clone(&ended));
        thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n') {
                suspect.store(true, Ordering::SeqCst);
                if line.is_err() {
                    break;
                }
            }
            ending.store(true, Ordering::SeqCst);
            suspect.store(true, Ordering::SeqCst);
            // Reaped here, so that no zombie is left; its status says nothing.
            child.wait().ok();
        });
        Some(Follower { ended, _stdin: stdin })
    }
}
