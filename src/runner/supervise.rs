//! Supervises one run: one thread that decides, woken by what happens and by the deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cleanup::{CreateRace, Fate, ensure_gone};
use super::client::{Client, Wake};
use super::output::Live;
use super::preamble::Start;
use super::stop::Stopper;
use crate::capture::Captured;
use crate::engine::command::{CommandError, CommandLine};
use crate::engine::{Engine, KillAnswer, RemoveAnswer};
use crate::outcome::classify::{ClientEnd, KILLED, RecordEvidence, StopCause, Stopping};
use crate::outcome::failure::Failure;
use crate::tag::RunTag;

/// How long a client that got SIGKILL may take to end.
const CLIENT_GRACE: Duration = Duration::from_secs(2);

/// How long to wait at first for the end of a client whose container cannot be ended.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// How long to wait before asking again whether a container has been started.
const START_POLL: Duration = Duration::from_millis(200);

/// How long a grandchild of the client may hold its pipes.
const LEAK_BOUND: Duration = Duration::from_millis(500);

/// One run to supervise.
#[derive(Debug)]
pub struct Job<'a> {
    /// The engine to ask and to tell.
    pub engine: &'a Engine,
    /// The command line that runs the container.
    pub command: CommandLine,
    /// Whose container it is.
    pub tag: &'a RunTag,
    /// The program.
    pub code: Arc<[u8]>,
    /// How long it may run.
    pub timeout: Duration,
    /// How many bytes of each stream are kept.
    pub output_cap: usize,
    /// Where the output is shown meanwhile.
    pub live: Live,
    /// Who may end it.
    pub stopper: &'a Stopper,
}

/// What is known of a run that is over.
#[derive(Debug)]
pub struct Ran {
    /// How the client ended.
    pub client: ClientEnd,
    /// What das did to end it.
    pub stopping: Stopping,
    /// What the engine says.
    pub record: RecordEvidence,
    /// What is known of the container.
    pub fate: Fate,
    /// The program's standard output.
    pub stdout: Captured,
    /// The program's standard error.
    pub stderr: Captured,
    /// What the engine said on standard error before it started the program.
    pub engine_words: String,
    /// From the client's start to its end.
    pub duration: Duration,
    /// Where the output was shown, for another run; what failed or blocked is not there.
    pub live: Live,
}

/// Runs a container to its end. Fails only where there is no client to run it.
pub fn run(mut job: Job<'_>) -> Result<Ran, CommandError> {
    let client = Client::spawn(&mut job)?;
    let supervisor = Supervisor { job: &job, client: &client };
    let watched = supervisor.watch();
    let duration = client.spawned.elapsed();
    client.stdout.wait(LEAK_BOUND);
    client.stderr.wait(LEAK_BOUND);
    let record = supervisor.record(&watched);
    let fate = supervisor.clean_up(&watched, &record);
    let start = supervisor.start(&watched, &record);
    let Client { stdout, stderr, .. } = client;
    let (stdout, stderr) = (stdout.settle(start, job.stopper), stderr.settle(start, job.stopper));
    Ok(Ran {
        client: watched.client,
        stopping: confirmed(watched.stopping, fate),
        record,
        fate,
        stdout: stdout.captured,
        stderr: stderr.captured,
        engine_words: stderr.engine_words,
        duration,
        live: Live { stdout: stdout.live, stderr: stderr.live },
    })
}

struct Supervisor<'a> {
    job: &'a Job<'a>,
    client: &'a Client,
}

/// What came of an attempt to end a container.
enum Ended {
    Killed,
    ByItself(ClientEnd),
    NotYet,
}

/// How the watch ended.
struct Watched {
    client: ClientEnd,
    stopping: Stopping,
    /// What was learnt on the way.
    record: RecordEvidence,
}

impl Supervisor<'_> {
    /// Waits for the end of the client, for the deadline, or for somebody's stop.
    fn watch(&self) -> Watched {
        let mut deadline = self.client.spawned + self.job.timeout;
        let mut record = RecordEvidence::NotNeeded;
        loop {
            match self.client.next(deadline) {
                Wake::Exited(client) => {
                    return Watched {
                        client,
                        stopping: Stopping::No,
                        record: RecordEvidence::NotNeeded,
                    };
                }
                Wake::Stop(cause) => return self.stop(cause, record),
                Wake::Time => {
                    record = self.ask();
                    match self.later_deadline(&record) {
                        Some(later) => deadline = later,
                        None => return self.stop(StopCause::Deadline, record),
                    }
                }
            }
        }
    }

    /// The program's time begins with its container's start, which only the engine knows. It is
    /// asked once the time since the spawn is over, so that a run in time costs no question.
    fn later_deadline(&self, record: &RecordEvidence) -> Option<Instant> {
        let RecordEvidence::Known(record) = record else { return None };
        let now = Instant::now();
        let later = match self.client.start(record) {
            Start::At(start) => start + self.job.timeout,
            Start::Never if now < self.start_bound() => now + START_POLL,
            Start::Never => now,
        };
        (later > now).then_some(later)
    }

    fn start_bound(&self) -> Instant {
        self.client.spawned + self.job.timeout + self.job.engine.patience().start
    }

    /// Kills the container until its client ends; a client that does not is killed itself.
    fn stop(&self, cause: StopCause, record: RecordEvidence) -> Watched {
        let waits = self.job.engine.patience();
        let patience = Instant::now() + waits.stoppable;
        let mut pause = FIRST_PAUSE;
        while Instant::now() < patience {
            match self.end_container(pause) {
                Ok(Ended::ByItself(client)) => {
                    return Watched { client, stopping: Stopping::TooLate(cause), record };
                }
                Ok(Ended::Killed) => match self.client.exited_within(waits.client) {
                    Some(client) => {
                        return Watched { client, stopping: Stopping::Killed(cause), record };
                    }
                    None => break,
                },
                Ok(Ended::NotYet) => pause = (pause * 2).min(START_POLL),
                Err(_) => break,
            }
        }
        self.client.kill();
        self.client.exited_within(CLIENT_GRACE);
        Watched { client: ClientEnd::Lost, stopping: Stopping::Unconfirmed(cause), record }
    }

    /// One attempt to end the container.
    fn end_container(&self, pause: Duration) -> Result<Ended, CommandError> {
        let (engine, name) = (self.job.engine, self.job.tag.container());
        if let KillAnswer::Killed = engine.kill(&name)? {
            return Ok(Ended::Killed);
        }
        // It is not there yet, or not any more: then the client ends by itself.
        if let Some(client) = self.client.exited_within(pause) {
            return Ok(Ended::ByItself(client));
        }
        // Or it was made and never started: then it cannot be killed, only removed.
        Ok(match engine.remove(&name)? {
            RemoveAnswer::Removed => Ended::Killed,
            RemoveAnswer::Absent | RemoveAnswer::Refused(_) => Ended::NotYet,
        })
    }

    fn ask(&self) -> RecordEvidence {
        self.job
            .engine
            .record(self.job.tag)
            .map_or(RecordEvidence::Unavailable, RecordEvidence::Known)
    }

    /// The engine's record, where it can change what is believed.
    fn record(&self, watched: &Watched) -> RecordEvidence {
        match (watched.stopping, watched.client) {
            (Stopping::No, ClientEnd::Exited(0)) if !self.client.stderr.holds() => {
                RecordEvidence::NotNeeded
            }
            // It ended by itself between the deadline and the kill.
            (Stopping::Killed(StopCause::Deadline), ClientEnd::Exited(code)) if code != KILLED => {
                self.ask()
            }
            // What was learnt at the deadline stands: the kill is what ended it.
            (Stopping::Killed(_), ClientEnd::Exited(_)) | (Stopping::Unconfirmed(_), _) => {
                watched.record.clone()
            }
            (Stopping::No | Stopping::TooLate(_) | Stopping::Killed(_), _) => self.ask(),
        }
    }

    /// A client that ended by itself has seen its container removed; any other may have left it.
    fn clean_up(&self, watched: &Watched, record: &RecordEvidence) -> Fate {
        let (left, race) = match record {
            RecordEvidence::Known(record) => (
                watched.client == ClientEnd::Lost || record.left_behind(),
                if record.ran() { CreateRace::Over } else { CreateRace::Open },
            ),
            RecordEvidence::NotNeeded => (watched.client == ClientEnd::Lost, CreateRace::Open),
            RecordEvidence::Unavailable => (!self.never_asked(), CreateRace::Open),
        };
        let race = match watched.stopping {
            Stopping::Killed(_) => CreateRace::Over,
            Stopping::No | Stopping::TooLate(_) | Stopping::Unconfirmed(_) => race,
        };
        if left {
            ensure_gone(self.job.engine, &self.job.tag.container(), race)
        } else {
            Fate::Gone
        }
    }

    /// Whether the client could not even ask for a container, going by all that it said.
    fn never_asked(&self) -> bool {
        self.client.stdout.is_empty() && Failure::kept_from_asking(&self.client.stderr.held())
    }

    /// When the program began to print. Where that is unknown, what the client printed is taken
    /// for the program's if it succeeded, and for the engine's if it failed.
    fn start(&self, watched: &Watched, record: &RecordEvidence) -> Start {
        match (record, watched.client) {
            (RecordEvidence::Known(record), _) => self.client.start(record),
            (RecordEvidence::NotNeeded | RecordEvidence::Unavailable, ClientEnd::Exited(0)) => {
                Start::At(self.client.spawned)
            }
            (RecordEvidence::NotNeeded, _) => Start::At(self.client.spawned),
            (RecordEvidence::Unavailable, _) => Start::Never,
        }
    }
}

/// A removal that the engine confirms is as good as a kill.
fn confirmed(stopping: Stopping, fate: Fate) -> Stopping {
    match (stopping, fate) {
        (Stopping::Unconfirmed(cause), Fate::Gone) => Stopping::Killed(cause),
        (stopping, Fate::Gone | Fate::Unconfirmed) => stopping,
    }
}
