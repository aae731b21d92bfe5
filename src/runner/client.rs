//! The engine's client as a running process: its pipes, its end, its threads.

use std::io;
use std::process::{ChildStdin, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use shared_child::SharedChild;

use super::feed;
use super::output::{Display, Live, Stream};
use super::preamble::{Preamble, Start};
use super::stop::{Event, Stopper};
use crate::engine::Engine;
use crate::engine::command::{CommandError, CommandLine};
use crate::engine::record::Record;
use crate::outcome::classify::{ClientEnd, StopCause};
use crate::tag::RunTag;

/// A client that has been spawned. Its program waits for its code.
#[derive(Debug)]
pub(super) struct Client {
    child: Arc<SharedChild>,
    stdin: Option<ChildStdin>,
    sender: Sender<Event>,
    events: Receiver<Event>,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    pub(super) clock: Clock,
}

/// When the program's time begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// When the engine has started the container, which is some time after this spawn.
    FromStart(Instant),
    /// Now: the container was started before, and got its code at this time.
    FromClaim {
        /// When the client was spawned.
        spawned: Instant,
        /// When the code was sent.
        claimed: Instant,
    },
}

impl Clock {
    /// When whoever waits for the answer began to wait.
    pub(super) fn begun(self) -> Instant {
        match self {
            Self::FromStart(begun) | Self::FromClaim { claimed: begun, .. } => begun,
        }
    }

    /// When the program began to run, at the earliest, by das's own clock.
    pub(super) fn start(self, record: &Record) -> Start {
        match (self, record.start_delay()) {
            (Self::FromStart(spawned), Some(delay)) => Start::At(spawned + delay),
            // It may have been claimed before the engine had started it.
            (Self::FromClaim { spawned, claimed }, Some(delay)) => {
                Start::At(claimed.max(spawned + delay))
            }
            (clock, None) if record.ran() => Start::At(clock.begun()),
            (Self::FromStart(_) | Self::FromClaim { .. }, None) => Start::Never,
        }
    }

    /// Whether the container had ended before it could get its code. Both sides of the comparison
    /// are spans of one clock each, so that clocks that differ do no harm.
    pub(super) fn died_unclaimed(self, record: &Record) -> bool {
        match (self, record.start_delay(), record.lifetime()) {
            (Self::FromClaim { spawned, claimed }, Some(delay), Some(lifetime)) => {
                delay + lifetime < claimed.saturating_duration_since(spawned)
            }
            (Self::FromClaim { .. } | Self::FromStart(_), _, _) => false,
        }
    }
}

/// What the supervisor was woken by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    Exited(ClientEnd),
    Stop(StopCause),
    Time,
}

impl Client {
    /// Spawns the client and starts the threads that drain it and wait for it.
    pub(super) fn spawn(command: &CommandLine, output_cap: usize) -> Result<Self, CommandError> {
        let mut process = command.to_command();
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let spawned = Instant::now();
        let child = SharedChild::spawn(&mut process)
            .map(Arc::new)
            .map_err(|source| CommandError::spawn(command.program.clone(), source))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.take_stdin(), child.take_stdout(), child.take_stderr())
        else {
            unreachable!("all three pipes were asked for")
        };
        let (sender, events) = mpsc::channel();
        Ok(Self {
            stdin: Some(stdin),
            stdout: Stream::drain(stdout, output_cap, Preamble::default()),
            stderr: Stream::drain(stderr, output_cap, Preamble::expected()),
            clock: Clock::FromStart(spawned),
            events,
            child: announce_end(child, sender.clone()),
            sender,
        })
    }

    /// Whether the client still runs.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// From now on somebody waits for the program, which was started before.
    pub(super) fn claim(&mut self) {
        let spawned = self.clock.begun();
        self.clock = Clock::FromClaim { spawned, claimed: Instant::now() };
    }

    /// Gives the program its code, its viewers and whoever may end it.
    pub(super) fn begin(
        &mut self,
        code: Arc<[u8]>,
        live: Live,
        stopper: &Stopper,
        engine: &Engine,
        tag: &RunTag,
    ) {
        stopper.listen(self.sender.clone());
        self.show(live, stopper, engine, tag);
        if let Some(stdin) = self.stdin.take() {
            feed::feed(stdin, code);
        }
    }

    fn show(&self, live: Live, stopper: &Stopper, engine: &Engine, tag: &RunTag) {
        let Live { stdout, stderr } = live;
        if let Some(writer) = stdout {
            let stopper = stopper.clone();
            let closed = move || stopper.stop(StopCause::OutputClosed);
            self.stdout.show_on(Display::start(writer, closed), Box::new(|| None));
        }
        if let Some(writer) = stderr {
            let (engine, tag, clock) = (engine.clone(), tag.clone(), self.clock);
            let ask_start = Box::new(move || {
                let record = engine.record(&tag).ok()?;
                record.ran().then(|| clock.start(&record))
            });
            // Whoever closes das's stderr does not want its talk; the program's work goes on.
            self.stderr.show_on(Display::start(writer, || {}), ask_start);
        }
    }

    /// Waits for the next thing that happens, until `until`.
    pub(super) fn next(&self, until: Instant) -> Wake {
        match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Event::Exited(status)) => Wake::Exited(client_end(status)),
            Ok(Event::Stop(cause)) => Wake::Stop(cause),
            Err(RecvTimeoutError::Timeout) => Wake::Time,
            Err(RecvTimeoutError::Disconnected) => unreachable!("this client holds a sender"),
        }
    }

    /// Waits for the client's end alone, for at most `bound`.
    pub(super) fn exited_within(&self, bound: Duration) -> Option<ClientEnd> {
        let until = Instant::now() + bound;
        loop {
            match self.next(until) {
                Wake::Exited(end) => return Some(end),
                Wake::Time => return None,
                // It is being stopped already.
                Wake::Stop(_) => {}
            }
        }
    }

    /// Ends the program's standard input without any code.
    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Kills the client itself, which stops no container.
    pub(super) fn kill(&self) {
        // It can only fail for a process that has ended, which is what is wanted.
        self.child.kill().ok();
    }
}

/// Waits for the client's end on a thread of its own.
fn announce_end(child: Arc<SharedChild>, sender: Sender<Event>) -> Arc<SharedChild> {
    let waiting = Arc::clone(&child);
    thread::spawn(move || {
        // A supervisor that has given up does not listen any more.
        sender.send(Event::Exited(waiting.wait())).ok();
    });
    child
}

fn client_end(status: io::Result<ExitStatus>) -> ClientEnd {
    match status.map(|status| status.code()) {
        Ok(Some(code)) => ClientEnd::Exited(code),
        Ok(None) | Err(_) => ClientEnd::Lost,
    }
}
