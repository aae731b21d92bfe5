//! `run` while its program runs: the client that passes signals on, sees the container end, and
//! ends with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::args::Args;
use crate::call::{Call, End};
use crate::failure::Failure;
use crate::program::{Played, Program};
use crate::scenario::{Answer, Step, Stream};
use crate::sink::Sink;
use crate::store::Container;

const POLL: Duration = Duration::from_millis(5);

/// The CLI gives up at the third of these, whatever the container does.
const TERMINATIONS: usize = 3;

/// One client with its program.
struct Client<'a> {
    call: &'a mut Call,
    container: &'a Container,
    sink: Arc<Sink>,
    signals: Vec<(i32, Arc<AtomicBool>)>,
    terminations: usize,
}

pub(crate) fn attend(
    call: &mut Call,
    args: &Args,
    container: &Container,
    steps: Vec<Step>,
) -> Result<End, Failure> {
    let sink = Arc::new(Sink::new().map_err(|error| call.state.failure(call.state.dir(), error))?);
    let stdin = args.has("--interactive").then(|| call.journal.stdin_file()).transpose()?;
    let mut program = Program::new(call, container, Arc::clone(&sink), stdin);
    let signals = watched_signals(call)?;
    let (done, end) = mpsc::channel();
    // The thread may block in a write for good; the process ends without it.
    thread::spawn(move || done.send(program.play(&steps)));
    Client { call, container, sink, signals, terminations: 0 }.watch(&end)
}

fn watched_signals(call: &Call) -> Result<Vec<(i32, Arc<AtomicBool>)>, Failure> {
    let watch = |signal| {
        let seen = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal, Arc::clone(&seen)).map(|_| (signal, seen))
    };
    let watched: Result<Vec<_>, _> = [SIGTERM, SIGINT, SIGHUP].into_iter().map(watch).collect();
    watched.map_err(|error| call.state.failure(call.state.dir(), error))
}

impl Client<'_> {
    fn watch(&mut self, end: &Receiver<Result<Played, Failure>>) -> Result<End, Failure> {
        loop {
            match end.recv_timeout(POLL) {
                Ok(played) => return self.conclude(played?),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::unplayed("the program's thread panicked"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(end) = self.look_around()? {
                return Ok(end);
            }
            self.call.state.still_wanted()?;
        }
    }

    fn look_around(&mut self) -> Result<Option<End>, Failure> {
        self.pass_on_signals()?;
        if self.terminations >= TERMINATIONS {
            let text = "\ngot 3 SIGTERM/SIGINTs, forcefully exiting";
            return self.call.print(&Answer::error(text)).map(Some);
        }
        if self.call.store.is_asked_to_drain(&self.container.id) && self.sink.is_drained() {
            self.call.store.end(&self.container.id, 137)?;
        }
        Ok(self.call.store.exit_code(self.container)?.map(End::Exit))
    }

    /// To the program, which as PID 1 of its container does not care.
    fn pass_on_signals(&mut self) -> Result<(), Failure> {
        for (signal, seen) in &self.signals {
            if seen.swap(false, Ordering::SeqCst) {
                self.call.journal.got_signal(*signal)?;
                self.call.store.note(
                    &self.container.id,
                    "kill",
                    &[("signal", &signal.to_string())],
                )?;
                self.terminations += usize::from(*signal != SIGHUP);
            }
        }
        Ok(())
    }

    fn conclude(&self, played: Played) -> Result<End, Failure> {
        match played {
            Played::Exit(code) => self.call.store.end(&self.container.id, code).map(End::Exit),
            Played::ClientDies => Ok(End::Signal(Signal::KILL)),
            Played::ClientExits(answer) => self.call.print(&answer),
            Played::BrokenPipe(Stream::Stdout) => {
                self.call.print(&Answer::error("write /dev/stdout: broken pipe"))
            }
            Played::BrokenPipe(Stream::Stderr) => Ok(End::Signal(Signal::PIPE)),
        }
    }
}
