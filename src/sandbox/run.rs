//! One run, from its plan to its outcome.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::code::Code;
use super::{Host, Sandbox};
use crate::capture::Captured;
use crate::engine::command::CommandError;
use crate::engine::{EngineKind, Facts, MemoryKills};
use crate::images::ensure::Progress;
use crate::outcome::Outcome;
use crate::outcome::classify::{self, Ending, Evidence, Stopping};
use crate::outcome::failure::Failure;
use crate::outcome::hints;
use crate::plan::Plan;
use crate::plan::argv::Argv;
use crate::pool::Parked;
use crate::runner::{Fate, Launch, Live, Program, Ran, Stopper, Unbegun};
use crate::tag::RunTag;
use crate::watchdog::Guard;

/// How much of the end of stderr a hint looks at.
const HINT_BYTES: usize = 4096;

/// How many names are tried for a container before the engine is believed to refuse them all.
const NAME_ATTEMPTS: u32 = 5;

/// Who watches a run and may end it.
pub(super) struct Watch {
    pub(super) live: Live,
    pub(super) progress: Progress,
    pub(super) stopper: Stopper,
}

/// One run, everything about it decided but its end.
pub(super) struct Run<'a> {
    pub(super) sandbox: &'a Sandbox,
    pub(super) plan: Plan,
    pub(super) code: Code,
    /// What is to be said about its image.
    pub(super) notice: Option<String>,
}

/// What is known of a run that is over.
pub(super) struct Happened {
    pub(super) ending: Ending,
    stdout: Captured,
    stderr: Captured,
    duration: Duration,
    warnings: Vec<String>,
    container: Container,
    /// The random part of the container's name.
    run_id: String,
}

/// Which container a program ran in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// One that was made for it.
    Fresh,
    /// One that was parked before.
    Parked,
}

impl Run<'_> {
    pub(super) fn execute(mut self, watch: &Watch) -> Outcome {
        let started = Instant::now();
        if let Some(cause) = watch.stopper.cause() {
            let happened = self.never_began(Ending::Cancelled(cause), started.elapsed());
            return self.outcome(happened);
        }
        let happened = match &self.sandbox.host {
            Err(failure) => Err(failure.clone()),
            Ok(host) => self.attempt(host, watch),
        };
        let happened = happened.unwrap_or_else(|failure| {
            // An image that is not fetched because the run was stopped is no failure.
            let stopped = watch.stopper.cause().map(Ending::Cancelled);
            self.never_began(stopped.unwrap_or(Ending::Failed(failure)), started.elapsed())
        });
        self.outcome(happened)
    }

    fn never_began(&self, ending: Ending, duration: Duration) -> Happened {
        Happened {
            ending,
            stdout: Captured::default(),
            stderr: Captured::default(),
            duration,
            warnings: Vec::new(),
            container: Container::Fresh,
            run_id: self.tag().id().to_owned(),
        }
    }

    fn tag(&self) -> RunTag {
        RunTag::new(&self.sandbox.owner, self.plan.timeout())
    }

    /// Runs in a parked container where one waits, and in a fresh one otherwise.
    pub(super) fn spawn(&self, host: &Host, watch: &Watch) -> Result<Happened, Failure> {
        let claim = host.pool.as_ref().map(|pool| pool.claim(&self.plan));
        let (parked, _urgency) = claim.map_or((None, None), |claim| (claim.parked, claim.urgency));
        match parked.and_then(|parked| self.spawn_parked(parked, watch)) {
            Some(happened) => Ok(happened),
            None => self.spawn_fresh(host, watch),
        }
    }

    /// None where the container had ended unnoticed, or could not be used: then no byte of the code
    /// has run, and a fresh container may run it.
    fn spawn_parked(&self, parked: Parked, watch: &Watch) -> Option<Happened> {
        let Parked { waiting, guard, .. } = parked;
        let tag = waiting.tag().clone();
        let ran = match waiting.claim(self.program(watch)) {
            Ok(ran) => ran,
            Err(Unbegun { fate, .. }) => {
                release(guard, fate);
                return None;
            }
        };
        release(guard, ran.fate);
        let missed = ran.unread && ran.stopping == Stopping::No;
        (!missed).then(|| self.judge(&tag, ran, Container::Parked))
    }

    fn spawn_fresh(&self, host: &Host, watch: &Watch) -> Result<Happened, Failure> {
        let mut attempts = 0;
        loop {
            let happened = self.spawn_named(host, &self.tag(), watch)?;
            attempts += 1;
            let taken = happened.ending == Ending::Failed(Failure::NameTaken);
            if !taken || attempts == NAME_ATTEMPTS {
                return Ok(happened);
            }
        }
    }

    fn spawn_named(&self, host: &Host, tag: &RunTag, watch: &Watch) -> Result<Happened, Failure> {
        let Host { engine, watchdog, pool: _ } = host;
        // A container that nobody would remove if das were killed is not started.
        let guard = watchdog
            .guard(&tag.container())
            .map_err(|error| own_failure("cannot start the watchdog of containers", &error))?;
        let launch = Launch {
            engine: engine.clone(),
            command: Argv::new(engine.facts(), &self.plan, tag).command_line(),
            tag: tag.clone(),
            output_cap: self.sandbox.output_cap(),
        };
        let begun = Instant::now();
        let waiting = launch.start().map_err(|error| spawn_failure(engine.facts(), &error))?;
        let ran = match waiting.run(self.program(watch)) {
            Ok(ran) => ran,
            Err(Unbegun { error, fate }) => {
                release(guard, fate);
                let ending = Ending::Failed(own_failure("cannot start a thread", &error));
                return Ok(self.not_begun(tag, ending, fate, begun.elapsed()));
            }
        };
        release(guard, ran.fate);
        Ok(self.judge(tag, ran, Container::Fresh))
    }

    /// The container was made and got none of the code.
    fn not_begun(&self, tag: &RunTag, ending: Ending, fate: Fate, duration: Duration) -> Happened {
        let warnings = unconfirmed(fate, &ending, &self.removal(tag)).into_iter().collect();
        let run_id = tag.id().to_owned();
        Happened { warnings, run_id, ..self.never_began(ending, duration) }
    }

    fn program<'a>(&self, watch: &'a Watch) -> Program<'a> {
        Program {
            code: Arc::clone(&self.code.bytes),
            timeout: self.plan.timeout(),
            live: watch.live.clone(),
            stopper: &watch.stopper,
        }
    }

    fn judge(&self, tag: &RunTag, ran: Ran, container: Container) -> Happened {
        let Ran {
            client,
            stopping,
            record,
            fate,
            stdout,
            stderr,
            engine_words,
            duration,
            unread: _,
        } = ran;
        let ran = record.may_have_run();
        let ending = classify::classify(&Evidence {
            client,
            stopping,
            record,
            engine_words: &engine_words,
            interpreter: self.plan.interpreter(),
        });
        // Where nothing ran, the hint has it.
        let said = if ran && ending.verdict().is_of_the_program() { &engine_words } else { "" };
        let removal = self.removal(tag);
        let warnings = engine_warnings(said).chain(unconfirmed(fate, &ending, &removal)).collect();
        let run_id = tag.id().to_owned();
        Happened { ending, stdout, stderr, duration, warnings, container, run_id }
    }

    /// What a person can type to remove the container.
    fn removal(&self, tag: &RunTag) -> String {
        let engine = self.sandbox.host.as_ref().map_or("docker", |host| host.program());
        format!("{engine} rm -f {}", tag.container())
    }

    fn outcome(self, happened: Happened) -> Outcome {
        let Happened { ending, stdout, stderr, duration, warnings, container, run_id } = happened;
        Outcome {
            verdict: ending.verdict(),
            exit_code: ending.exit_code(),
            signal: ending.signal(),
            hint: self.hint(&ending, &stdout, &stderr),
            stdout,
            stderr,
            duration,
            warnings: self.warnings().into_iter().chain(warnings).collect(),
            language: self.plan.language().clone(),
            image: self.plan.image().clone(),
            warm: container == Container::Parked,
            code_sha256: self.code.sha256,
            run_id,
        }
    }

    fn hint(&self, ending: &Ending, stdout: &Captured, stderr: &Captured) -> Option<String> {
        let bytes = stderr.bytes();
        let end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(HINT_BYTES)..]);
        hints::hint(
            ending,
            &hints::Context {
                language: self.plan.language().as_str(),
                image: self.plan.image().as_str(),
                code: &self.code.bytes,
                stderr: &end,
                silent: stdout.total() + stderr.total() == 0,
                limits: self.plan.limits(),
                memory_kills: self.memory_kills(),
                runtime: self.plan.runtime(),
            },
        )
    }

    fn memory_kills(&self) -> MemoryKills {
        let kind = self.sandbox.host.as_ref().map(|host| host.engine.facts().kind);
        kind.map_or(MemoryKills::Recorded, EngineKind::memory_kills)
    }

    fn warnings(&self) -> Vec<String> {
        let own = self.notice.iter().chain(&self.code.warning).cloned();
        self.sandbox.policy.warnings().into_iter().chain(own).collect()
    }
}

/// What the engine said before the program ran: a limit that is not enforced must be said.
fn engine_warnings(words: &str) -> impl Iterator<Item = String> + '_ {
    words.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let text: String = line.chars().filter(|c| !c.is_control()).take(300).collect();
        format!("the engine says: {}", text.strip_prefix("WARNING: ").unwrap_or(&text))
    })
}

/// What to say where nobody knows whether the container is gone.
fn unconfirmed(fate: Fate, ending: &Ending, removal: &str) -> Option<String> {
    let remove = format!("`{removal}` removes it");
    match (fate, ending) {
        (Fate::Gone, _)
        // The engine was never reached, so it made nothing.
        | (_, Ending::Failed(Failure::NoEngine(_) | Failure::BadEndpoint(_) | Failure::Forbidden(_))) => None,
        (Fate::Unconfirmed, Ending::Failed(Failure::Unreachable(_))) => {
            Some(format!("if the engine made the container before it went away, {remove}"))
        }
        (Fate::Unconfirmed, _) => {
            Some(format!("the engine does not confirm that the container is gone: {remove}"))
        }
    }
}

/// A container whose end is not confirmed stays on the watchdog's list.
fn release(guard: Guard, fate: Fate) {
    match fate {
        Fate::Gone => drop(guard),
        Fate::Unconfirmed => guard.keep(),
    }
}

fn own_failure(what: &str, error: &io::Error) -> Failure {
    let what = format!("{what}: {error}");
    if is_exhaustion(error) { Failure::Exhausted(what) } else { Failure::Engine(what) }
}

/// Whether the system has no processes, threads, descriptors or memory left to give.
fn is_exhaustion(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE].map(Some).contains(&errno)
}

fn spawn_failure(facts: &Facts, error: &CommandError) -> Failure {
    match error {
        CommandError::NotFound { .. } => Failure::NoEngine(error.to_string()),
        CommandError::Spawn { source, .. } => {
            let what = format!("cannot start `{}`: {source}", facts.program);
            // The policy's variables may fill more than the system passes on.
            if source.kind() == io::ErrorKind::ArgumentListTooLong {
                Failure::Engine(what)
            } else if is_exhaustion(source) {
                Failure::Exhausted(what)
            } else {
                Failure::NoEngine(what)
            }
        }
        CommandError::TimedOut { .. }
        | CommandError::Stopped { .. }
        | CommandError::Wait { .. }
        | CommandError::Feed { .. } => Failure::Engine(error.to_string()),
    }
}
