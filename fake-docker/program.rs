//! The program in the container: it plays its steps, one after the other.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::call::Call;
use crate::failure::Failure;
use crate::helper;
use crate::scenario::{Amount, Answer, Branch, Bytes, Flood, Step, Stream, Trickle, Victim};
use crate::sink::Sink;
use crate::state::State;
use crate::store::{Container, Store};

/// One write of a flood.
const GULP: usize = 64 * 1024;

/// How the program, or its client, ended.
#[derive(Debug)]
pub(crate) enum Played {
    Exit(u8),
    ClientDies,
    ClientExits(Answer),
    /// Nobody reads this stream any more.
    BrokenPipe(Stream),
}

/// A program in progress.
#[derive(Debug)]
pub(crate) struct Program {
    state: State,
    store: Store,
    id: String,
    sink: Arc<Sink>,
    /// Where stdin is written down; without it the program has none.
    stdin: Option<File>,
    received: Vec<u8>,
}

impl Program {
    pub(crate) fn new(
        call: &Call,
        container: &Container,
        sink: Arc<Sink>,
        stdin: Option<File>,
    ) -> Self {
        Self {
            state: call.state.clone(),
            store: call.store.clone(),
            id: container.id.clone(),
            sink,
            stdin,
            received: Vec::new(),
        }
    }

    pub(crate) fn play(&mut self, steps: &[Step]) -> Result<Played, Failure> {
        for step in steps {
            if let Some(end) = self.step(step)? {
                return Ok(end);
            }
        }
        Ok(Played::Exit(0))
    }

    fn step(&mut self, step: &Step) -> Result<Option<Played>, Failure> {
        let done = match step {
            Step::Stdout(bytes) => return self.write(Stream::Stdout, bytes.as_slice()),
            Step::Stderr(bytes) => return self.write(Stream::Stderr, bytes.as_slice()),
            Step::Trickle(trickle) => return self.trickle(trickle),
            Step::Flood(flood) => return self.flood(flood),
            Step::EchoStdin(stream) => return self.write(*stream, &self.received),
            Step::ByStdin(branches) => return self.branch(branches).map(Some),
            Step::Exit(code) => return Ok(Some(Played::Exit(*code))),
            Step::DieBySignal(signal) => return Ok(Some(Played::Exit(128 + signal))),
            Step::ClientDies => return Ok(Some(Played::ClientDies)),
            Step::ClientExits(answer) => return Ok(Some(Played::ClientExits(answer.clone()))),
            Step::Oom(Victim::Program) => {
                self.store.oom(&self.id)?;
                return Ok(Some(Played::Exit(137)));
            }
            Step::Oom(Victim::Child) => self.store.oom(&self.id),
            Step::ReadStdin => self.read_stdin(),
            Step::Wait(trigger) => self.state.wait_for(trigger),
            Step::WaitUntilKilled => self.state.hang(),
            Step::Mark(name) => self.state.mark(name),
            Step::Grandchild { until } => helper::hold_pipes(&self.state, until),
            Step::Daemon(daemon) => self.state.set_daemon(*daemon),
        };
        done.map(|()| None)
    }

    fn write(&self, stream: Stream, bytes: &[u8]) -> Result<Option<Played>, Failure> {
        match self.sink.write(stream, bytes) {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Some(Played::BrokenPipe(stream)))
            }
            Err(error) => Err(self.state.failure(self.state.dir(), error)),
        }
    }

    fn trickle(&self, trickle: &Trickle) -> Result<Option<Played>, Failure> {
        let mut rounds = 0;
        while trickle.rounds.exceeds(rounds) {
            for byte in trickle.bytes.as_slice() {
                if let Some(end) = self.write(trickle.stream, &[*byte])? {
                    return Ok(Some(end));
                }
                thread::sleep(Duration::from_millis(trickle.gap_millis));
            }
            rounds += 1;
        }
        Ok(None)
    }

    /// A writer for each stream, so that a full pipe does not keep the other one dry.
    fn flood(&self, flood: &Flood) -> Result<Option<Played>, Failure> {
        let (done, writers) = mpsc::channel();
        for stream in flood.streams.iter().copied() {
            let (done, sink, amount) = (done.clone(), Arc::clone(&self.sink), flood.bytes);
            thread::spawn(move || done.send((stream, pour(&sink, stream, amount))));
        }
        drop(done);
        for (stream, poured) in writers {
            match poured {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(Some(Played::BrokenPipe(stream)));
                }
                Err(error) => return Err(self.state.failure(self.state.dir(), error)),
            }
        }
        Ok(None)
    }

    fn branch(&mut self, branches: &[Branch]) -> Result<Played, Failure> {
        self.read_stdin()?;
        // An interpreter that is given no code does nothing, and succeeds.
        if self.received.is_empty() {
            return Ok(Played::Exit(0));
        }
        let text = String::from_utf8_lossy(&self.received).into_owned();
        match branches.iter().find(|branch| text.contains(&branch.contains)) {
            Some(branch) => self.play(&branch.steps),
            None => Err(Failure::unplayed(format!("no branch for the code `{text}`"))),
        }
    }

    fn read_stdin(&mut self) -> Result<(), Failure> {
        let Some(file) = &mut self.stdin else { return Ok(()) };
        let mut buffer = vec![0; GULP];
        let read = loop {
            match io::stdin().read(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(read) => {
                    self.received.extend_from_slice(&buffer[..read]);
                    if let Err(error) = file.write_all(&buffer[..read]) {
                        break Err(error);
                    }
                }
                Err(error) => break Err(error),
            }
        };
        read.map_err(|error| self.state.failure(self.state.dir(), error))
    }
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Raw(bytes) => bytes,
        }
    }
}

impl Amount {
    fn exceeds(self, so_far: u64) -> bool {
        match self {
            Self::Only(amount) => so_far < amount,
            Self::Forever => true,
        }
    }

    fn next_gulp(self, so_far: u64) -> usize {
        match self {
            Self::Only(amount) => usize::try_from(amount - so_far).unwrap_or(GULP).min(GULP),
            Self::Forever => GULP,
        }
    }
}

/// Like `yes`: lines of `y`, cut at the last byte.
fn pour(sink: &Sink, stream: Stream, amount: Amount) -> io::Result<()> {
    let gulp = b"y\n".repeat(GULP / 2);
    let mut poured = 0;
    while amount.exceeds(poured) {
        let next = amount.next_gulp(poured);
        sink.write(stream, &gulp[..next])?;
        poured += next as u64;
    }
    Ok(())
}
