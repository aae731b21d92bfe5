//! The server: one thread reads, one writes, one waits for the end and tells of progress, and
//! each call that runs has its own. It knows streams and calls; what runs is the tool's to know.
//!
//! No thread both waits for something slow and decides: the reader never waits for a run or for
//! the writer, and the end comes within a bound whatever the others do.

mod batch;
mod calls;
mod outbox;
mod progress;
mod reader;
#[cfg(test)]
mod tests;
mod worker;

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use progress::Pace;

use self::calls::{Calls, Farewell, Ticket};
use self::outbox::{MOST_UNSENT, Outbox, outbox};
use self::progress::{Watch, Watches};
use self::reader::Reader;
use super::rpc::{ErrorObject, code};
use super::tool::Tool;

/// How long the end may take: the runs being stopped, then what is left to write.
const END_BOUND: Duration = Duration::from_millis(1100);
const WRITE_BOUND: Duration = Duration::from_millis(100);

/// Why the server ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The client closed its side.
    InputEnded,
    /// The input cannot be read any more.
    InputFailed(io::Error),
    /// The client is gone.
    OutputFailed(io::Error),
    /// The client has long stopped reading.
    OutputStuck,
    /// Somebody here asked for it.
    Stopped,
}

/// How the server ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Why.
    pub(crate) end: End,
    /// How many runs had not ended by then, although they were told to.
    pub(crate) unfinished: usize,
    /// Whether what was kept ready for calls had been given back by then.
    pub(crate) retired: bool,
}

#[derive(Debug)]
enum Event {
    Watch(Ticket, Watch),
    End(End),
}

/// What all threads of a server have in common.
#[derive(Debug)]
struct Shared {
    tool: Arc<Tool>,
    calls: Calls,
    outbox: Outbox,
    events: Sender<Event>,
}

impl Shared {
    /// A server that is gone needs no telling.
    fn tell(&self, event: Event) {
        self.events.send(event).ok();
    }
}

/// A server for one client.
#[derive(Debug)]
pub(crate) struct Server {
    tool: Arc<Tool>,
    pace: Pace,
    events: Sender<Event>,
    received: Receiver<Event>,
}

/// Ends a server from another thread.
#[derive(Debug, Clone)]
pub(crate) struct ServerStopper(Sender<Event>);

impl ServerStopper {
    /// Returns at once; the server ends within its bound. One that has ended needs no stopping.
    pub(crate) fn stop(&self) {
        self.0.send(Event::End(End::Stopped)).ok();
    }
}

impl Server {
    /// A server that offers this tool.
    pub(crate) fn new(tool: Tool, pace: Pace) -> Self {
        let (events, received) = channel();
        Self { tool: Arc::new(tool), pace, events, received }
    }

    /// What ends this server.
    pub(crate) fn stopper(&self) -> ServerStopper {
        ServerStopper(self.events.clone())
    }

    /// Serves until the input ends, the output fails or somebody stops it. Then every call is
    /// cancelled, and this returns within 1.2 seconds. A thread that still waits for input is
    /// left behind.
    pub(crate) fn serve(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Ended> {
        let (outbox, writer) = outbox(output, self.events.clone(), MOST_UNSENT);
        let events = self.events.clone();
        let written = spawn("das-mcp-writer", move || {
            if let Err(error) = writer.run() {
                events.send(Event::End(End::OutputFailed(error))).ok();
            }
        })?;
        let calls = Calls::new(self.tool.max_concurrent(), outbox.clone());
        let shared = Arc::new(Shared { tool: self.tool, calls, outbox, events: self.events });
        let reader = Reader::new(Arc::clone(&shared));
        let _reading = spawn("das-mcp-reader", move || reader.run(input))?;
        let end = wait_for_end(&self.received, &shared.calls, self.pace);
        Ok(wind_up(&shared, end, &written))
    }
}

/// Starts a thread. The receiver is disconnected once the thread has ended.
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<Receiver<Infallible>> {
    let (alive, ended) = channel();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        run();
        drop::<Sender<Infallible>>(alive);
    })?;
    Ok(ended)
}

fn wait_for_end(events: &Receiver<Event>, calls: &Calls, pace: Pace) -> End {
    let mut watches = Watches::new(pace);
    loop {
        let event = match watches.due() {
            None => events.recv().map_err(RecvTimeoutError::from),
            Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match event {
            Ok(Event::Watch(ticket, watch)) => watches.add(ticket, watch),
            Ok(Event::End(end)) => return end,
            Err(RecvTimeoutError::Timeout) => {}
            // Nobody is left who could say anything.
            Err(RecvTimeoutError::Disconnected) => return End::InputEnded,
        }
        watches.report(calls);
    }
}

/// Cancels all calls, waits for their runs to end, lets the writer finish; each for a while.
fn wind_up(shared: &Shared, end: End, written: &Receiver<Infallible>) -> Ended {
    let deadline = Instant::now() + END_BOUND;
    let farewell = match end {
        End::InputEnded | End::InputFailed(_) | End::Stopped => Farewell::Said,
        End::OutputFailed(_) | End::OutputStuck => Farewell::Unsaid,
    };
    shared.tool.code().retire();
    shared.calls.close(farewell);
    shared.outbox.close();
    let unfinished = shared.calls.wait_idle(deadline);
    let retired = shared.tool.code().retired_by(deadline);
    let left = deadline.saturating_duration_since(Instant::now()) + WRITE_BOUND;
    // Disconnected means written; a writer that takes longer is left behind.
    let _still_writing = written.recv_timeout(left) == Err(RecvTimeoutError::Timeout);
    Ended { end, unfinished, retired }
}

/// What a client is told of a bug in das; the panic itself is on stderr.
fn internal_error() -> ErrorObject {
    ErrorObject::new(code::INTERNAL_ERROR, "internal error")
}
