//! The engine's client as a running process: its pipes, its end, its threads.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use shared_child::SharedChild;

use super::output::{Display, Stream};
use super::preamble::{Preamble, Start};
use super::stop::Event;
use super::{Job, feed};
use crate::engine::command::CommandError;
use crate::engine::record::Record;
use crate::outcome::classify::{ClientEnd, StopCause};

/// A client that has been spawned.
pub(super) struct Client {
    child: Arc<SharedChild>,
    events: Receiver<Event>,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    pub(super) spawned: Instant,
}

/// What the supervisor was woken by.
pub(super) enum Wake {
    Exited(ClientEnd),
    Stop(StopCause),
    Time,
}

impl Client {
    /// Spawns the client and starts the threads that feed it, drain it and wait for it.
    pub(super) fn spawn(job: &mut Job<'_>) -> Result<Self, CommandError> {
        let mut command = job.command.to_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let spawned = Instant::now();
        let child = SharedChild::spawn(&mut command)
            .map(Arc::new)
            .map_err(|source| CommandError::spawn(job.command.program.clone(), source))?;
        let pipes = (child.take_stdin(), child.take_stdout(), child.take_stderr());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            unreachable!("all three pipes were asked for")
        };
        feed::feed(stdin, Arc::clone(&job.code));
        let (sender, events) = mpsc::channel();
        job.stopper.listen(sender.clone());
        let waiting = Arc::clone(&child);
        thread::spawn(move || {
            // A supervisor that has given up does not listen any more.
            sender.send(Event::Exited(waiting.wait())).ok();
        });
        let (stdout_display, stderr_display) = displays(job);
        let never = Box::new(|| None);
        let ask = ask_start(job, spawned);
        Ok(Self {
            stdout: Stream::drain(
                stdout,
                job.output_cap,
                Preamble::default(),
                stdout_display,
                never,
            ),
            stderr: Stream::drain(
                stderr,
                job.output_cap,
                Preamble::expected(),
                stderr_display,
                ask,
            ),
            child,
            events,
            spawned,
        })
    }

    /// Waits for the next thing that happens, until `until`.
    pub(super) fn next(&self, until: Instant) -> Wake {
        match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Event::Exited(status)) => Wake::Exited(client_end(status)),
            Ok(Event::Stop(cause)) => Wake::Stop(cause),
            Err(RecvTimeoutError::Timeout) => Wake::Time,
            Err(RecvTimeoutError::Disconnected) => Wake::Exited(ClientEnd::Lost),
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

    /// Kills the client itself, which stops no container.
    pub(super) fn kill(&self) {
        // It can only fail for a process that has ended, which is what is wanted.
        self.child.kill().ok();
    }

    /// The time of the start by das's own clock: at the earliest this long after the spawn.
    pub(super) fn start(&self, record: &Record) -> Start {
        start(self.spawned, record)
    }
}

fn start(spawned: Instant, record: &Record) -> Start {
    match record.start_delay() {
        Some(delay) => Start::At(spawned + delay),
        None if record.ran() => Start::At(spawned),
        None => Start::Never,
    }
}

fn ask_start(job: &Job<'_>, spawned: Instant) -> Box<dyn Fn() -> Option<Start> + Send> {
    let (engine, tag) = (job.engine.clone(), job.tag.clone());
    Box::new(move || {
        let record = engine.record(&tag).ok()?;
        record.ran().then(|| start(spawned, &record))
    })
}

fn displays(job: &mut Job<'_>) -> (Option<Display>, Option<Display>) {
    let stopper = job.stopper.clone();
    let closed = move || stopper.stop(StopCause::OutputClosed);
    (
        job.live.stdout.take().map(|writer| Display::start(writer, closed)),
        // Whoever closes das's stderr does not want its talk; the program's work goes on.
        job.live.stderr.take().map(|writer| Display::start(writer, || {})),
    )
}

fn client_end(status: io::Result<ExitStatus>) -> ClientEnd {
    match status.map(|status| status.code()) {
        Ok(Some(code)) => ClientEnd::Exited(code),
        Ok(None) | Err(_) => ClientEnd::Lost,
    }
}
