//! The engine's client as a running process: its pipes, its end, its threads.

use std::io::{self, PipeReader, PipeWriter};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use shared_child::SharedChild;

use super::clock::Clock;
use super::feed;
use super::output::{Display, Live, Stream};
use super::preamble::Preamble;
use super::stop::{Event, Stopper};
use crate::engine::command::{CommandError, CommandLine};
use crate::engine::{Engine, Expected};
use crate::outcome::classify::{ClientEnd, StopCause};
use crate::tag::RunTag;
use crate::threads;

/// A client that has been spawned. Its program waits for its code.
#[derive(Debug)]
pub(super) struct Client {
    child: Arc<SharedChild>,
    stdin: Option<PipeWriter>,
    /// The other end of that pipe, which the client reads from. What is still in it when the client
    /// has ended, no program can have got.
    unread: PipeReader,
    sender: Sender<Event>,
    events: Receiver<Event>,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    pub(super) clock: Clock,
}

/// What the supervisor was woken by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    Exited(ClientEnd),
    Stop(StopCause),
    Time,
}

impl Client {
    /// Starts the threads that drain the client and wait for it, and spawns it. The client comes
    /// last: where a thread cannot be started, nobody has asked for a container.
    pub(super) fn spawn(command: &CommandLine, output_cap: usize) -> Result<Self, CommandError> {
        let mut process = command.to_command();
        let failed = |source| CommandError::spawn(command.program.clone(), source);
        let (unread, stdin) = io::pipe().map_err(failed)?;
        let (from_stdout, stdout) = io::pipe().map_err(failed)?;
        let (from_stderr, stderr) = io::pipe().map_err(failed)?;
        process.stdin(unread.try_clone().map_err(failed)?).stdout(stdout).stderr(stderr);
        let stdout = Stream::drain(from_stdout, output_cap, Preamble::default()).map_err(failed)?;
        let stderr =
            Stream::drain(from_stderr, output_cap, Preamble::expected()).map_err(failed)?;
        let (sender, events) = mpsc::channel();
        let announcer = announce_end(sender.clone()).map_err(failed)?;
        let clock = Clock::now();
        let child = SharedChild::spawn(&mut process).map(Arc::new).map_err(failed)?;
        // It holds ends of the pipes, and the streams end when nobody does.
        drop(process);
        // Its thread waits for just this.
        announcer.send(Arc::clone(&child)).ok();
        Ok(Self { child, stdin: Some(stdin), unread, sender, events, stdout, stderr, clock })
    }

    /// Whether the client still runs.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// From now on somebody waits for the program, which was started before.
    pub(super) fn claim(&mut self) {
        self.clock = self.clock.claimed();
    }

    /// Gives the program whoever may end it, its viewers and its code. The code comes last: where
    /// this fails, none of it has been sent.
    pub(super) fn begin(
        &mut self,
        code: Arc<[u8]>,
        live: Live,
        stopper: &Stopper,
        engine: &Engine,
        tag: &RunTag,
    ) -> io::Result<()> {
        stopper.listen(self.sender.clone());
        self.show(live, stopper, engine, tag)?;
        self.stdin.take().map_or(Ok(()), |stdin| feed::feed(stdin, code))
    }

    fn show(&self, live: Live, stopper: &Stopper, engine: &Engine, tag: &RunTag) -> io::Result<()> {
        let Live { stdout, stderr } = live;
        if let Some(writer) = stdout {
            let stopper = stopper.clone();
            let closed = move || stopper.stop(StopCause::OutputClosed);
            self.stdout.show_on(Display::start(writer, closed)?, Box::new(|| None))?;
        }
        if let Some(writer) = stderr {
            let (engine, tag, clock) = (engine.clone(), tag.clone(), self.clock);
            let ask_start = Box::new(move || {
                let record = engine.record(&tag, Expected::Nothing).ok()?;
                record.ran().then(|| clock.start(&record, Instant::now()))
            });
            // Whoever closes das's stderr does not want its talk; the program's work goes on.
            self.stderr.show_on(Display::start(writer, || {})?, ask_start)?;
        }
        Ok(())
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

    /// Whether the client, which has ended, took none of the code. Ends when the feeder has
    /// written the last of it: nobody else reads it now.
    pub(super) fn has_read_nothing_of(&mut self, length: usize) -> bool {
        let left = io::copy(&mut self.unread, &mut io::sink());
        length > 0 && left.is_ok_and(|left| left == length as u64)
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

/// Starts a thread that waits for the end of the client that it is given.
fn announce_end(sender: Sender<Event>) -> io::Result<Sender<Arc<SharedChild>>> {
    let (give, given) = mpsc::channel::<Arc<SharedChild>>();
    threads::spawn("das-wait", move || {
        if let Ok(child) = given.recv() {
            // A supervisor that has given up does not listen any more.
            sender.send(Event::Exited(child.wait())).ok();
        }
    })?;
    Ok(give)
}

fn client_end(status: io::Result<ExitStatus>) -> ClientEnd {
    match status.map(|status| status.code()) {
        Ok(Some(code)) => ClientEnd::Exited(code),
        Ok(None) | Err(_) => ClientEnd::Lost,
    }
}
