//! Supervises one run: one thread that does what its life cycle says, woken by what happens and
//! by the deadline.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cleanup::{CreateRace, Fate, ensure_gone};
use super::client::Client;
use super::kernel::OomKills;
use super::lifecycle::{Due, Known, Step, Time, Words};
use super::output::Live;
use super::preamble::Start;
use super::stop::Stopper;
use crate::capture::Captured;
use crate::engine::command::{CommandError, CommandLine};
use crate::engine::record::Record;
use crate::engine::{Engine, Expected};
use crate::outcome::classify::{ClientEnd, KILLED, RecordEvidence, Stopping};
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

/// A program that was not begun: das could not start a thread that it needs. Its container, which
/// got none of the code, has been ended.
#[derive(Debug)]
pub struct Unbegun {
    /// What the system said.
    pub error: io::Error,
    /// What is known of the container.
    pub fate: Fate,
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
    pub fn run(self, program: Program<'_>) -> Result<Ran, Unbegun> {
        self.supervise(program)
    }

    /// Runs a program in a container that has been started before. The deadline starts now.
    pub fn claim(mut self, program: Program<'_>) -> Result<Ran, Unbegun> {
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

    fn supervise(mut self, program: Program<'_>) -> Result<Ran, Unbegun> {
        let Program { code, timeout, live, stopper } = program;
        let Launch { engine, tag, .. } = &self.launch;
        let oom_kills = OomKills::so_far();
        let length = code.len();
        if let Err(error) = self.client.begin(code, live, stopper, engine, tag) {
            return Err(Unbegun { error, fate: self.give_back() });
        }
        let deadline = self.client.clock.begun() + timeout;
        let stop = Attempts { until: None, pause: FIRST_PAUSE };
        let client = &self.client;
        let mut supervisor =
            Supervisor { engine, tag, timeout, client, oom_kills, deadline, stop, ended: None };
        let Known { client, stopping, record, fate } = supervisor.live();
        let ended = supervisor.ended.unwrap_or_else(Instant::now);
        let start = supervisor.start(client, &record, ended);
        let unread = self.client.clock.is_of_claim() && self.client.has_read_nothing_of(length);
        let begun = self.client.clock.begun();
        let Client { stdout, stderr, .. } = self.client;
        let (stdout, stderr) = (stdout.settle(start, stopper), stderr.settle(start, stopper));
        Ok(Ran {
            client,
            stopping,
            record,
            fate,
            stdout: stdout.captured,
            stderr: stderr.captured,
            engine_words: stderr.engine_words,
            duration: ended.saturating_duration_since(begun),
            unread,
        })
    }
}

/// Does what the life cycle says.
struct Supervisor<'a> {
    engine: &'a Engine,
    tag: &'a RunTag,
    timeout: Duration,
    client: &'a Client,
    /// Before the program.
    oom_kills: OomKills,
    deadline: Instant,
    stop: Attempts,
    /// When the client had ended, or was given up.
    ended: Option<Instant>,
}

/// The attempts to end a container that cannot be killed yet.
struct Attempts {
    /// Known from the first one on.
    until: Option<Instant>,
    pause: Duration,
}

impl Supervisor<'_> {
    /// From the first step to the last.
    fn live(&mut self) -> Known {
        let mut step = Step::begin();
        loop {
            match self.take(step) {
                ControlFlow::Continue(next) => step = next,
                ControlFlow::Break(known) => return known,
            }
        }
    }

    fn take(&mut self, step: Step) -> ControlFlow<Known, Step> {
        let (engine, client, name) = (self.engine, self.client, self.tag.container());
        ControlFlow::Continue(match step {
            Step::Watch(watch) => watch.woken(client.next(self.deadline)),
            Step::AskStart => {
                let record = self.ask(Expected::Start);
                let due = self.due(&record);
                Step::after_question(record, due)
            }
            Step::Kill(kill) => {
                let first = || Instant::now() + engine.patience().stoppable;
                self.stop.until.get_or_insert_with(first);
                kill.answered(engine.kill(&name).ok().as_ref())
            }
            Step::Pause(pause) => pause.over(client.exited_within(self.stop.next_pause())),
            Step::Remove(remove) => {
                let answer = engine.remove(&name).ok();
                remove.answered(answer.as_ref(), self.stop.time())
            }
            Step::AwaitEnd(end) => end.over(client.exited_within(engine.patience().client)),
            Step::Abandon(abandon) => {
                client.kill();
                client.exited_within(CLIENT_GRACE);
                abandon.over()
            }
            Step::Listen(listen) => listen.heard(self.words()),
            Step::AskRecord(ask) => ask.told(self.ask(self.expected_at_the_end())),
            Step::CleanUp(clean) => {
                let fate = ensure_gone(engine, &name, clean.race);
                clean.over(fate)
            }
            Step::Done(known) => return ControlFlow::Break(known),
        })
    }

    /// The program's time begins with its container's start, which only the engine knows. It is
    /// asked once the time since the spawn is over, so that a run in time costs no question.
    fn due(&mut self, record: &RecordEvidence) -> Due {
        let RecordEvidence::Known(record) = record else { return Due::Now };
        let now = Instant::now();
        let later = match self.client.clock.start(record, now) {
            Start::At(start) => start + self.timeout,
            Start::Never if now < self.start_bound() => now + START_POLL,
            Start::Never => now,
        };
        if later <= now {
            return Due::Now;
        }
        self.deadline = later;
        Due::Later
    }

    fn start_bound(&self) -> Instant {
        self.client.clock.begun() + self.timeout + self.engine.patience().start
    }

    fn ask(&self, expected: Expected) -> RecordEvidence {
        self.engine
            .record(self.tag, expected)
            .map(|record| Record { oom: record.oom || self.lost_oom(&record), ..record })
            .ok()
            .filter(|record| !self.is_forgotten(record))
            .map_or(RecordEvidence::Unavailable, RecordEvidence::Known)
    }

    /// An engine that has refused to make the container has nothing to tell of it.
    fn expected_at_the_end(&self) -> Expected {
        if Failure::is_refusal(&self.client.stderr.held()) {
            Expected::Nothing
        } else {
            Expected::End
        }
    }

    /// Whether the engine's memory, which is short, has lost a container that was parked for long:
    /// then its silence does not mean that it never started.
    fn is_forgotten(&self, record: &Record) -> bool {
        self.client.clock.is_of_claim() && *record == Record::default()
    }

    /// Whether the engine missed what the kernel's OOM killer did: the program ended as by a
    /// SIGKILL that das did not send, and the kernel tells of one.
    fn lost_oom(&self, record: &Record) -> bool {
        record.died == Some(KILLED) && self.oom_kills.struck_since(record.id)
    }

    /// What the client has said, once its pipes are dry.
    fn words(&mut self) -> Words {
        let Client { stdout, stderr, .. } = self.client;
        self.ended = Some(Instant::now());
        stdout.wait(LEAK_BOUND);
        stderr.wait(LEAK_BOUND);
        let held = stderr.held();
        match (stderr.holds(), stdout.is_empty()) {
            (false, _) => Words::Program,
            (true, true) if Failure::kept_from_asking(&held) => Words::NeverAsked,
            (true, true) if Failure::is_refusal(&held) => Words::Refused,
            (true, true | false) => Words::Held,
        }
    }

    /// When the program began to print. Where that is unknown, what the client printed is taken
    /// for the program's if it succeeded, and for the engine's if it failed.
    fn start(&self, client: ClientEnd, record: &RecordEvidence, ended: Instant) -> Start {
        match (record, client) {
            (RecordEvidence::Known(record), _) => self.client.clock.start(record, ended),
            (RecordEvidence::NotNeeded | RecordEvidence::Unavailable, ClientEnd::Exited(0)) => {
                Start::At(self.client.clock.begun())
            }
            (RecordEvidence::NotNeeded, _) => Start::At(self.client.clock.begun()),
            (RecordEvidence::Unavailable, _) => Start::Never,
        }
    }
}

impl Attempts {
    fn next_pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(KILL_POLL);
        pause
    }

    fn time(&self) -> Time {
        let up = self.until.is_none_or(|until| Instant::now() >= until);
        if up { Time::Up } else { Time::Left }
    }
}
