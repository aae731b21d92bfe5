//! Supervises one run: one thread that decides, woken by what happens and by the deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cleanup::{CreateRace, Fate, ensure_gone};
use super::client::{Client, Wake};
use super::kernel::OomKills;
use super::output::Live;
use super::preamble::Start;
use super::stop::Stopper;
use crate::capture::Captured;
use crate::engine::command::{CommandError, CommandLine};
use crate::engine::record::Record;
use crate::engine::{Engine, KillAnswer, RemoveAnswer};
use crate::outcome::classify::{ClientEnd, KILLED, RecordEvidence, StopCause, Stopping};
use crate::outcome::failure::Failure;
use crate::tag::RunTag;

/// How long to wait at first for the end of a client whose container cannot be ended.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The longest pause between two attempts to kill.
const KILL_POLL: Duration = Duration::from_millis(200);

/// How long a client that got SIGKILL may take to end.
const CLIENT_GRACE: Duration = Duration::from_secs(2);

/// How long to wait before asking again whether a container has been started.
const START_POLL: Duration = Duration::from_millis(500);

/// How long an unused container may take to end.
const GIVE_BACK_BOUND: Duration = Duration::from_secs(2);

/// How long a grandchild of the client may hold its pipes.
const LEAK_BOUND: Duration = Duration::from_millis(500);

/// What it takes to have a container.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The engine to ask and to tell.
    pub engine: Engine,
    /// The command line that runs the container.
    pub command: CommandLine,
    /// Whose container it is.
    pub tag: RunTag,
    /// How many bytes of each stream are kept.
    pub output_cap: usize,
}

/// One program, for one container.
#[derive(Debug)]
pub struct Program<'a> {
    /// Its code.
    pub code: Arc<[u8]>,
    /// How long it may run.
    pub timeout: Duration,
    /// Where its output is shown meanwhile.
    pub live: Live,
    /// Who may end it.
    pub stopper: &'a Stopper,
}

/// A container that has been asked for; its program, started or not yet, waits for code.
#[derive(Debug)]
pub struct Waiting {
    launch: Launch,
    client: Client,
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
    /// From the client's start, or the claim, to its end.
    pub duration: Duration,
    /// The container that was claimed had ended before its client took a byte of the code: nothing
    /// has run.
    pub unread: bool,
}

impl Launch {
    /// Spawns the client. Fails only where there is no client to spawn.
    pub fn start(self) -> Result<Waiting, CommandError> {
        let client = Client::spawn(&self.command, self.output_cap)?;
        Ok(Waiting { launch: self, client })
    }
}

impl Waiting {
    /// Whose container it is.
    pub fn tag(&self) -> &RunTag {
        &self.launch.tag
    }

    /// Whether the container can still take a program.
    pub fn is_alive(&self) -> bool {
        self.client.is_running()
    }

    /// Runs a program in the container that was just asked for.
    pub fn run(self, program: Program<'_>) -> Ran {
        self.supervise(program)
    }

    /// Runs a program in a container that has been started before. The deadline starts now.
    pub fn claim(mut self, program: Program<'_>) -> Ran {
        self.client.claim();
        self.supervise(program)
    }

    /// Ends an unused container: without code its program ends by itself.
    pub fn close(&mut self) {
        self.client.close_stdin();
    }

    /// Whether a closed container ends, and is removed, before this time.
    pub fn ended_by(self, until: Instant) -> bool {
        let bound = until.saturating_duration_since(Instant::now());
        self.client.exited_within(bound) == Some(ClientEnd::Exited(0))
    }

    /// Gives an unused container back, and sees to it that it ends.
    pub fn give_back(mut self) -> Fate {
        self.close();
        match self.client.exited_within(GIVE_BACK_BOUND) {
            Some(ClientEnd::Exited(0)) => Fate::Gone,
            Some(ClientEnd::Exited(_) | ClientEnd::Lost) | None => {
                self.client.kill();
                ensure_gone(&self.launch.engine, &self.launch.tag.container(), CreateRace::Open)
            }
        }
    }

    fn supervise(mut self, program: Program<'_>) -> Ran {
        let Program { code, timeout, live, stopper } = program;
        let Launch { engine, tag, .. } = &self.launch;
        let oom_kills = OomKills::so_far();
        let length = code.len();
        self.client.begin(code, live, stopper, engine, tag);
        let supervisor = Supervisor { engine, tag, timeout, client: &self.client, oom_kills };
        let watched = supervisor.watch();
        let ended = Instant::now();
        self.client.stdout.wait(LEAK_BOUND);
        self.client.stderr.wait(LEAK_BOUND);
        let record = supervisor.record(&watched);
        let fate = supervisor.clean_up(&watched, &record);
        let start = supervisor.start(&watched, &record, ended);
        let unread = self.client.clock.is_of_claim() && self.client.has_read_nothing_of(length);
        let begun = self.client.clock.begun();
        let Client { stdout, stderr, .. } = self.client;
        let (stdout, stderr) = (stdout.settle(start, stopper), stderr.settle(start, stopper));
        Ran {
            client: watched.client,
            stopping: confirmed(watched.stopping, fate),
            record,
            fate,
            stdout: stdout.captured,
            stderr: stderr.captured,
            engine_words: stderr.engine_words,
            duration: ended.saturating_duration_since(begun),
            unread,
        }
    }
}

struct Supervisor<'a> {
    engine: &'a Engine,
    tag: &'a RunTag,
    timeout: Duration,
    client: &'a Client,
    /// Before the program.
    oom_kills: OomKills,
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
        let mut deadline = self.client.clock.begun() + self.timeout;
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
        let later = match self.client.clock.start(record, now) {
            Start::At(start) => start + self.timeout,
            Start::Never if now < self.start_bound() => now + START_POLL,
            Start::Never => now,
        };
        (later > now).then_some(later)
    }

    fn start_bound(&self) -> Instant {
        self.client.clock.begun() + self.timeout + self.engine.patience().start
    }

    /// Kills the container until its client ends; a client that does not is killed itself.
    fn stop(&self, cause: StopCause, record: RecordEvidence) -> Watched {
        let waits = self.engine.patience();
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
                Ok(Ended::NotYet) => pause = (pause * 2).min(KILL_POLL),
                Err(_) => break,
            }
        }
        self.client.kill();
        self.client.exited_within(CLIENT_GRACE);
        Watched { client: ClientEnd::Lost, stopping: Stopping::Unconfirmed(cause), record }
    }

    /// One attempt to end the container.
    fn end_container(&self, pause: Duration) -> Result<Ended, CommandError> {
        let name = self.tag.container();
        if let KillAnswer::Killed = self.engine.kill(&name)? {
            return Ok(Ended::Killed);
        }
        // It is not there yet, or not any more: then the client ends by itself.
        if let Some(client) = self.client.exited_within(pause) {
            return Ok(Ended::ByItself(client));
        }
        // Or it was made and never started: then it cannot be killed, only removed.
        Ok(match self.engine.remove(&name)? {
            RemoveAnswer::Removed => Ended::Killed,
            RemoveAnswer::Absent | RemoveAnswer::InProgress | RemoveAnswer::Refused(_) => {
                Ended::NotYet
            }
        })
    }

    fn ask(&self) -> RecordEvidence {
        self.engine
            .record(self.tag)
            .map(|record| Record { oom: record.oom || self.lost_oom(&record), ..record })
            .map_or(RecordEvidence::Unavailable, RecordEvidence::Known)
    }

    /// Whether the engine missed what the kernel's OOM killer did: the program ended as by a
    /// SIGKILL that das did not send, and the kernel tells of one.
    fn lost_oom(&self, record: &Record) -> bool {
        record.died == Some(KILLED) && self.oom_kills.struck_since(record.id)
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
            // Whose words are they that are held back?
            (Stopping::Killed(_), ClientEnd::Exited(_))
                if watched.record == RecordEvidence::NotNeeded && self.client.stderr.holds() =>
            {
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
        if left { ensure_gone(self.engine, &self.tag.container(), race) } else { Fate::Gone }
    }

    /// Whether the client could not even ask for a container, going by all that it said.
    fn never_asked(&self) -> bool {
        self.client.stdout.is_empty() && Failure::kept_from_asking(&self.client.stderr.held())
    }

    /// When the program began to print. Where that is unknown, what the client printed is taken
    /// for the program's if it succeeded, and for the engine's if it failed.
    fn start(&self, watched: &Watched, record: &RecordEvidence, ended: Instant) -> Start {
        match (record, watched.client) {
            (RecordEvidence::Known(record), _) => self.client.clock.start(record, ended),
            (RecordEvidence::NotNeeded | RecordEvidence::Unavailable, ClientEnd::Exited(0)) => {
                Start::At(self.client.clock.begun())
            }
            (RecordEvidence::NotNeeded, _) => Start::At(self.client.clock.begun()),
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
