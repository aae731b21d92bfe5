//! Scenarios as sentences: what `docker run` goes through, then what the engine around it does.

use serde_json::{Value, json};

use super::plain::{
    self, Amount, Answer, Branch, Bytes, Create, Daemon, Events, Flood, Image, Listing, Load,
    Orphan, Presence, Pull, Refusal, Run, Start, Step, Stop, Stream, Trickle, Trigger, Victim,
};

/// What the stand-in plays. The methods about runs go on with the last program.
#[derive(Debug, Clone, Default)]
#[must_use]
pub(crate) struct Scenario(plain::Scenario);

/// Where and how a program comes to be.
impl Scenario {
    /// No run at all: one would fail the test.
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    /// A program that reads its code to the end, as interpreters do.
    pub(crate) fn program() -> Self {
        Self::program_that_never_reads().step(Step::ReadStdin)
    }

    pub(crate) fn program_that_never_reads() -> Self {
        Self(plain::Scenario { run: vec![Run::default()], ..plain::Scenario::default() })
    }

    /// Another program, for the runs that the ones before are not for.
    pub(crate) fn or(mut self, other: Self) -> Self {
        self.0.run.extend(other.0.run);
        self
    }

    /// Only for command lines with this argument.
    pub(crate) fn when_arg(self, arg: &str) -> Self {
        self.with(|run| run.when.push(arg.to_owned()))
    }

    /// Only for so many runs.
    pub(crate) fn times(self, times: u32) -> Self {
        self.with(|run| run.times = Some(times))
    }

    /// The daemon says this and creates no container.
    pub(crate) fn refused_with(self, answer: Answer) -> Self {
        self.with(|run| run.refuse = Some(Refusal::Answers(answer)))
    }

    pub(crate) fn has_a_name_conflict(self) -> Self {
        self.with(|run| run.refuse = Some(Refusal::Conflict))
    }

    /// The container appears late, even if the client has been killed meanwhile.
    pub(crate) fn created_late(self, after: Trigger, orphan: Orphan) -> Self {
        self.with(|run| run.create = Create::Late { after, orphan })
    }

    /// The CLI prints this line on stderr before the program starts.
    pub(crate) fn with_warning(self, line: &str) -> Self {
        self.with(|run| run.warnings.push(line.to_owned()))
    }

    /// Stays `Created`.
    pub(crate) fn never_starts(self) -> Self {
        self.with(|run| run.start = Start::Never)
    }

    pub(crate) fn starts_after(self, trigger: Trigger) -> Self {
        self.with(|run| run.start = Start::After(trigger))
    }

    pub(crate) fn interpreter_is_missing(self) -> Self {
        self.with(|run| run.start = Start::InterpreterMissing)
    }

    pub(crate) fn interpreter_is_not_executable(self) -> Self {
        self.with(|run| run.start = Start::NotExecutable)
    }

    /// The runtime fails with this text behind `OCI runtime create failed: `. As with the real
    /// CLI the words decide the exit code: 127 for a missing file, 126 for a denied permission,
    /// otherwise 125.
    pub(crate) fn has_a_broken_runtime(self, text: &str) -> Self {
        self.with(|run| run.start = Start::OciError(text.to_owned()))
    }

    fn with(mut self, change: impl FnOnce(&mut Run)) -> Self {
        change(self.0.run.last_mut().expect("a scenario with a program"));
        self
    }
}

/// What the program does, step by step.
impl Scenario {
    pub(crate) fn prints(self, bytes: impl AsRef<[u8]>) -> Self {
        self.step(Step::Stdout(to_bytes(bytes.as_ref())))
    }

    pub(crate) fn prints_to_stderr(self, bytes: impl AsRef<[u8]>) -> Self {
        self.step(Step::Stderr(to_bytes(bytes.as_ref())))
    }

    /// Byte after byte, with a pause of so many milliseconds after each.
    pub(crate) fn trickles(
        self,
        stream: Stream,
        bytes: impl AsRef<[u8]>,
        gap_millis: u64,
        rounds: Amount,
    ) -> Self {
        let bytes = to_bytes(bytes.as_ref());
        self.step(Step::Trickle(Trickle { stream, bytes, gap_millis, rounds }))
    }

    /// Lines of `y` on each of the streams at once, as fast as they are read.
    pub(crate) fn floods(self, streams: &[Stream], bytes: Amount) -> Self {
        self.step(Step::Flood(Flood { streams: streams.to_vec(), bytes }))
    }

    pub(crate) fn prints_its_stdin(self) -> Self {
        self.step(Step::EchoStdin(Stream::Stdout))
    }

    /// Reads its code and does what the first program does whose text the code contains.
    pub(crate) fn acts_on_code(self, branches: &[(&str, Self)]) -> Self {
        let branches = branches.iter().map(|(contains, program)| Branch {
            contains: (*contains).to_owned(),
            steps: program.0.run.last().expect("a scenario with a program").steps.clone(),
        });
        self.step(Step::ByStdin(branches.collect()))
    }

    pub(crate) fn waits_for(self, trigger: Trigger) -> Self {
        self.step(Step::Wait(trigger))
    }

    pub(crate) fn runs_until_killed(self) -> Self {
        self.step(Step::WaitUntilKilled)
    }

    /// Creates a file in the state directory, for `StandIn::wait_for_mark`.
    pub(crate) fn marks(self, name: &str) -> Self {
        self.step(Step::Mark(name.to_owned()))
    }

    pub(crate) fn runs_out_of_memory(self) -> Self {
        self.step(Step::Oom(Victim::Program))
    }

    /// The program goes on.
    pub(crate) fn child_runs_out_of_memory(self) -> Self {
        self.step(Step::Oom(Victim::Child))
    }

    pub(crate) fn exits(self, code: u8) -> Self {
        self.step(Step::Exit(code))
    }

    pub(crate) fn dies_by_signal(self, signal: u8) -> Self {
        self.step(Step::DieBySignal(signal))
    }

    /// A grandchild keeps the client's stdout and stderr open until this file appears.
    pub(crate) fn leaves_a_grandchild(self, until: &str) -> Self {
        self.step(Step::Grandchild { until: until.to_owned() })
    }

    /// The client is killed; the container goes on.
    pub(crate) fn client_dies(self) -> Self {
        self.step(Step::ClientDies)
    }

    /// The client gives up; the container goes on.
    pub(crate) fn client_exits(self, answer: Answer) -> Self {
        self.step(Step::ClientExits(answer))
    }

    pub(crate) fn daemon_goes(self, daemon: Daemon) -> Self {
        self.step(Step::Daemon(daemon))
    }

    fn step(self, step: Step) -> Self {
        self.with(|run| run.steps.push(step))
    }
}

/// The engine. A method for a command, called again, is for the next call of that command.
impl Scenario {
    pub(crate) fn daemon(mut self, daemon: Daemon) -> Self {
        self.0.daemon = daemon;
        self
    }

    /// The daemon's clock is so many seconds ahead of das's, or behind it.
    pub(crate) fn clock_ahead(mut self, seconds: i64) -> Self {
        self.0.clock_ahead_seconds = seconds;
        self
    }

    pub(crate) fn kill(mut self, kill: Stop) -> Self {
        self.0.kill.push(kill);
        self
    }

    pub(crate) fn rm(mut self, rm: Stop) -> Self {
        self.0.rm.push(rm);
        self
    }

    pub(crate) fn events(mut self, events: Events) -> Self {
        self.0.events.push(events);
        self
    }

    pub(crate) fn ps(mut self, ps: Listing) -> Self {
        self.0.ps.push(ps);
        self
    }

    pub(crate) fn pull(mut self, pull: Pull) -> Self {
        self.0.pull.push(pull);
        self
    }

    pub(crate) fn import(mut self, import: Load) -> Self {
        self.0.import.push(import);
        self
    }

    pub(crate) fn build(mut self, build: Load) -> Self {
        self.0.build.push(build);
        self
    }

    /// No image is there, but those named or loaded later.
    pub(crate) fn without_images(mut self) -> Self {
        self.0.images.others = Presence::Missing;
        self
    }

    /// An image that is there; `patch` is merged into what `image inspect` tells.
    pub(crate) fn image(mut self, name: &str, patch: Value) -> Self {
        let image = Image { presence: Presence::Present, patch };
        self.0.images.named.insert(name.to_owned(), image);
        self
    }

    pub(crate) fn without_image(mut self, name: &str) -> Self {
        let image = Image { presence: Presence::Missing, patch: Value::Null };
        self.0.images.named.insert(name.to_owned(), image);
        self
    }

    /// Merged into the real CLI's answer.
    pub(crate) fn version(mut self, patch: Value) -> Self {
        self.0.version.patch = patch;
        self
    }

    pub(crate) fn version_answers(mut self, answer: Answer) -> Self {
        self.0.version.answers = Some(answer);
        self
    }

    /// Merged into the real CLI's answer.
    pub(crate) fn info(mut self, patch: Value) -> Self {
        self.0.info.patch = patch;
        self
    }

    pub(crate) fn info_answers(mut self, answer: Answer) -> Self {
        self.0.info.answers = Some(answer);
        self
    }

    pub(super) fn into_json(self) -> Value {
        json!(self.0)
    }
}

impl Answer {
    /// What the CLI does when the daemon refuses.
    pub(crate) fn failure(exit: u8, stderr: &str) -> Self {
        Self { stdout: String::new(), stderr: stderr.to_owned(), exit }
    }
}

impl Trigger {
    /// The call of `StandIn::trigger` with this name.
    pub(crate) fn file(name: &str) -> Self {
        Self::File(name.to_owned())
    }
}

fn to_bytes(bytes: &[u8]) -> Bytes {
    match str::from_utf8(bytes) {
        Ok(text) => Bytes::Text(text.to_owned()),
        Err(_) => Bytes::Raw(bytes.to_vec()),
    }
}
