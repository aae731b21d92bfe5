//! Drains one output stream of the client for ever, and shows its head while it runs.
//!
//! Draining never waits for a display: a client whose output is not drained cannot be killed
//! (moby/moby#41827). A display that blocks holds only its own thread.

use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Stopper;
use super::preamble::{Preamble, Start};
use crate::capture::{Capture, Captured};
use crate::threads;

/// Size of one read: that of a pipe.
const CHUNK: usize = 64 * 1024;

/// How long the display of a stopped run may take for what is left.
const FLUSH_BOUND: Duration = Duration::from_millis(100);

/// Where a stream is shown while it runs. Shared, because a run whose image has to be fetched
/// first is started twice; one display at a time writes to it.
pub type LiveWriter = Arc<Mutex<dyn Write + Send>>;

/// Where the output of a run is shown while it runs. The default shows nothing.
#[derive(Clone, Default)]
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

struct StreamState {
    capture: Capture,
    preamble: Preamble,
    view: Option<View>,
}

/// Where a stream is shown, and whom to ask about what is held back from it.
struct View {
    display: Display,
    questions: SyncSender<()>,
}

impl std::fmt::Debug for StreamState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamState")
            .field("capture", &self.capture)
            .field("preamble", &self.preamble)
            .finish_non_exhaustive()
    }
}

/// What a stream was.
#[derive(Debug)]
pub(super) struct Settled {
    /// The program's part.
    pub(super) captured: Captured,
    /// The engine's part.
    pub(super) engine_words: String,
}

impl Stream {
    /// Starts to drain.
    pub(super) fn drain(
        pipe: impl Read + Send + 'static,
        cap: usize,
        preamble: Preamble,
    ) -> io::Result<Self> {
        let state = StreamState { capture: Capture::new(cap), preamble, view: None };
        let state = Arc::new(Mutex::new(state));
        let (sender, end) = mpsc::sync_channel(1);
        let shared = Arc::clone(&state);
        threads::spawn("das-drain", move || {
            read_all(pipe, &shared);
            // The supervisor may have given up a pipe that a grandchild keeps open.
            sender.send(()).ok();
        })?;
        Ok(Self { state, end })
    }

    /// From now on the stream is also shown. `ask_start` is asked where the display would wait.
    pub(super) fn show_on(&self, display: Display, ask_start: AskStart) -> io::Result<()> {
        // One question at a time, and one more for what has come meanwhile.
        let (questions, asked) = mpsc::sync_channel(1);
        let shared = Arc::clone(&self.state);
        threads::spawn("das-ask", move || answer_all(&asked, &ask_start, &shared))?;
        let mut state = lock(&self.state);
        state.view = Some(View { display, questions });
        state.question();
        Ok(())
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
        state.release(start);
        let engine_words = state.preamble.engine_words().into_owned();
        let captured = std::mem::replace(&mut state.capture, Capture::new(0)).finish();
        let view = state.view.take();
        // The display may wait for its reader; nothing else may wait for the display.
        drop(state);
        if let Some(View { display, .. }) = view {
            display.show(captured.rest());
            display.finish(stopper);
        }
        Settled { captured, engine_words }
    }
}

impl StreamState {
    fn take_in(&mut self, piece: &[u8]) {
        let fresh = self.capture.push(piece);
        if let Some(view) = &self.view {
            view.display.show(fresh);
        }
    }

    /// Asks about what is held back, if somebody waits to see it.
    fn question(&self) {
        if let Some(view) = self.view.as_ref().filter(|_| self.preamble.holds()) {
            // A question that waits for its turn covers this one.
            view.questions.try_send(()).ok();
        }
    }

    fn release(&mut self, start: Start) {
        let released = self.preamble.release(start);
        self.take_in(&released);
    }
}

fn lock(state: &Mutex<StreamState>) -> MutexGuard<'_, StreamState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_all(mut pipe: impl Read, shared: &Mutex<StreamState>) {
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
        state.question();
    }
}

/// Asks the engine, which may take its time, on a thread that drains nothing.
fn answer_all(asked: &Receiver<()>, ask_start: &AskStart, shared: &Mutex<StreamState>) {
    for () in asked {
        if let Some(start) = ask_start() {
            lock(shared).release(start);
        }
    }
}

/// A thread that alone owns a live writer. What it has to show is bounded by the capture's head.
#[derive(Debug)]
pub(super) struct Display {
    pieces: Sender<Vec<u8>>,
    end: Receiver<()>,
}

impl Display {
    /// Starts it. `broken` is called once if the writer fails.
    pub(super) fn start(
        writer: LiveWriter,
        broken: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (pieces, queue) = mpsc::channel::<Vec<u8>>();
        let (sender, end) = mpsc::sync_channel(1);
        threads::spawn("das-show", move || {
            if write_all(&writer, &queue).is_err() {
                broken();
            }
            sender.send(()).ok();
        })?;
        Ok(Self { pieces, end })
    }

    /// Shows a piece, at once or when the writer is ready for it.
    fn show(&self, piece: &[u8]) {
        if !piece.is_empty() {
            // A writer that has failed shows nothing more, and its failure has been reported.
            self.pieces.send(piece.to_owned()).ok();
        }
    }

    /// Waits until all has been written, for as long as the reader at the other end takes. Once
    /// somebody has stopped the run, a reader that does not read is not waited for.
    fn finish(self, stopper: &Stopper) {
        let Self { pieces, end } = self;
        drop(pieces);
        let timed_out = |ended| ended == Err(RecvTimeoutError::Timeout);
        while timed_out(end.recv_timeout(FLUSH_BOUND)) && stopper.cause().is_none() {}
    }
}

fn write_all(writer: &Mutex<dyn Write + Send>, queue: &Receiver<Vec<u8>>) -> io::Result<()> {
    for piece in queue {
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(&piece)?;
        writer.flush()?;
    }
    Ok(())
}
