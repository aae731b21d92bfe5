//! Drains one output stream of the client for ever, and shows its head while it runs.
//!
//! Draining never waits for a display: a client whose output is not drained cannot be killed
//! (moby/moby#41827). A display that blocks holds only its own thread.

use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Stopper;
use super::preamble::{Preamble, Start};
use crate::capture::{Capture, Captured};

/// Size of one read: that of a pipe.
const CHUNK: usize = 64 * 1024;

/// How long the display of a stopped run may take for what is left.
const FLUSH_BOUND: Duration = Duration::from_millis(100);

/// Where a stream is shown while it runs.
pub type LiveWriter = Box<dyn Write + Send>;

/// Where the output of a run is shown while it runs. The default shows nothing.
#[derive(Default)]
pub struct Live {
    /// For standard output.
    pub stdout: Option<LiveWriter>,
    /// For standard error.
    pub stderr: Option<LiveWriter>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |writer: &Option<LiveWriter>| writer.as_ref().map(|_| "..");
        f.debug_struct("Live")
            .field("stdout", &shown(&self.stdout))
            .field("stderr", &shown(&self.stderr))
            .finish()
    }
}

/// Asks the engine whether the container has been started.
pub(super) type AskStart = Box<dyn Fn() -> Option<Start> + Send>;

/// One stream that a thread of its own drains.
#[derive(Debug)]
pub(super) struct Stream {
    state: Arc<Mutex<StreamState>>,
    end: Receiver<()>,
}

#[derive(Debug)]
struct StreamState {
    capture: Capture,
    preamble: Preamble,
    display: Option<Display>,
}

/// What a stream was.
pub(super) struct Settled {
    /// The program's part.
    pub(super) captured: Captured,
    /// The engine's part.
    pub(super) engine_words: String,
    /// What it was shown on, if that still works.
    pub(super) live: Option<LiveWriter>,
}

impl Stream {
    /// Starts to drain. `ask_start` is asked only where the display waits for the answer.
    pub(super) fn drain(
        pipe: impl Read + Send + 'static,
        cap: usize,
        preamble: Preamble,
        display: Option<Display>,
        ask_start: AskStart,
    ) -> Self {
        let state = StreamState { capture: Capture::new(cap), preamble, display };
        let state = Arc::new(Mutex::new(state));
        let (sender, end) = mpsc::sync_channel(1);
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            read_all(pipe, &shared, &ask_start);
            // The supervisor may have given up a pipe that a grandchild keeps open.
            sender.send(()).ok();
        });
        Self { state, end }
    }

    /// Waits for the stream's end. A grandchild that holds the pipe is not waited for beyond
    /// `bound`: what has come so far is the stream.
    pub(super) fn wait(&self, bound: Duration) {
        self.end.recv_timeout(bound).ok();
    }

    /// Whether part of the stream is still held back.
    pub(super) fn holds(&self) -> bool {
        lock(&self.state).preamble.holds()
    }

    /// What is held back.
    pub(super) fn held(&self) -> String {
        lock(&self.state).preamble.held()
    }

    /// Whether nothing has come.
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.state).capture.total() == 0
    }

    /// Decides about what is held back, shows what has not been shown, and gives the stream up.
    pub(super) fn settle(self, start: Start, stopper: &Stopper) -> Settled {
        let mut state = lock(&self.state);
        let released = state.preamble.release(start);
        state.take_in(&released);
        let engine_words = state.preamble.engine_words().into_owned();
        let captured = std::mem::replace(&mut state.capture, Capture::new(0)).finish();
        let display = state.display.take();
        // The display may wait for its reader; nothing else may wait for the display.
        drop(state);
        let live = display.and_then(|display| {
            display.show(captured.rest());
            display.finish(stopper)
        });
        Settled { captured, engine_words, live }
    }
}

impl StreamState {
    fn take_in(&mut self, piece: &[u8]) {
        let fresh = self.capture.push(piece);
        if let Some(display) = &self.display {
            display.show(fresh);
        }
    }
}

fn lock(state: &Mutex<StreamState>) -> MutexGuard<'_, StreamState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_all(mut pipe: impl Read, shared: &Mutex<StreamState>, ask_start: &AskStart) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match pipe.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // A pipe that breaks is at its end; the client's status tells the rest.
            Err(_) => break,
        };
        let arrived = Instant::now();
        let mut state = lock(shared);
        let passed = state.preamble.sift(&chunk[..read], arrived);
        state.take_in(&passed);
        if state.preamble.holds() && state.display.is_some() {
            drop(state);
            if let Some(start) = ask_start() {
                let mut state = lock(shared);
                let released = state.preamble.release(start);
                state.take_in(&released);
            }
        }
    }
}

/// A thread that alone owns a live writer. What it has to show is bounded by the capture's head.
#[derive(Debug)]
pub(super) struct Display {
    pieces: Sender<Vec<u8>>,
    /// Brings the writer back.
    end: Receiver<LiveWriter>,
}

impl Display {
    /// Starts it. `broken` is called once if the writer fails.
    pub(super) fn start(writer: LiveWriter, broken: impl FnOnce() + Send + 'static) -> Self {
        let (pieces, queue) = mpsc::channel::<Vec<u8>>();
        let (sender, end) = mpsc::sync_channel(1);
        thread::spawn(move || {
            let mut writer = writer;
            match write_all(&mut writer, &queue) {
                // A run that does not wait any more does not want it back.
                Ok(()) => sender.send(writer).unwrap_or(()),
                Err(_) => broken(),
            }
        });
        Self { pieces, end }
    }

    /// Shows a piece, at once or when the writer is ready for it.
    fn show(&self, piece: &[u8]) {
        if !piece.is_empty() {
            // A writer that has failed shows nothing more, and its failure has been reported.
            self.pieces.send(piece.to_owned()).ok();
        }
    }

    /// Waits until all has been written, for as long as the reader at the other end takes, and
    /// gives the writer back. Once somebody has stopped the run, a reader that does not read is
    /// not waited for.
    fn finish(self, stopper: &Stopper) -> Option<LiveWriter> {
        let Self { pieces, end } = self;
        drop(pieces);
        loop {
            match end.recv_timeout(FLUSH_BOUND) {
                Ok(writer) => return Some(writer),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if stopper.cause().is_some() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn write_all(writer: &mut LiveWriter, queue: &Receiver<Vec<u8>>) -> io::Result<()> {
    for piece in queue {
        writer.write_all(&piece)?;
        writer.flush()?;
    }
    Ok(())
}
