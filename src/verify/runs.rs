//! Does the jobs: runs the probes' programs and looks at the engine from outside.

use std::io::{self, Write};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::looks::Looks;
use super::plan::Job;
use super::report::Subject;
use super::{News, Order, Stoppers, VerifyError};
use crate::engine::look::Phase;
use crate::engine::{Engine, Expected};
use crate::names::ImageRef;
use crate::outcome::Outcome;
use crate::outcome::classify::StopCause;
use crate::plan::CheckedPolicy;
use crate::policy::SandboxPolicy;
use crate::runner::{Live, Stopper};
use crate::sandbox::{Request, RunError, Sandbox};
use crate::tag::RunTag;
use crate::walls::Wall;
use crate::walls::evidence::{Observed, Promised, Run, Told};
use crate::walls::facts::Facts;
use crate::walls::probes::{self, Family, Part};

/// How long a probe may take. No wall depends on it: the deadline's own probe has its own.
const PROBE_SECONDS: f64 = 60.0;

/// The longest deadline that is waited for: a longer one works the same way.
const LONGEST_DEADLINE: Duration = Duration::from_secs(1);

/// Probes say more than the least output that a policy may allow.
const PROBE_OUTPUT_BYTES: u64 = 4 << 20;

/// How long a container may take to wait for its peer.
const READY_BOUND: Duration = Duration::from_secs(40);

/// How long the engine may take to remove what has ended.
const REMOVAL_BOUND: Duration = Duration::from_secs(5);

/// How long it may take to notice that a program runs.
const NOTICE_BOUND: Duration = Duration::from_secs(5);

/// How soon it is asked again.
const POLL: Duration = Duration::from_millis(50);

/// Runs probes.
#[derive(Debug)]
pub(super) struct Runner<'a> {
    /// The same walls, with room for what the probes have to say.
    roomy: Sandbox,
    /// The same, with the policy's own limit of output.
    narrow: Sandbox,
    engine: Engine,
    promised: Promised,
    language: &'a str,
    image: ImageRef,
    family: Family,
    stoppers: &'a Stoppers,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        order: &'a Order,
        family: Family,
        stoppers: &'a Stoppers,
    ) -> Result<Self, VerifyError> {
        let narrow = Sandbox::new(with_time(order.policy.clone()))?;
        let roomy = Sandbox::new(with_room(order.policy.clone()))?;
        // The policy's own deadline, which the probes do not have.
        let plan = CheckedPolicy::new(order.policy.clone())?.plan(&order.language)?;
        let mut promised = plan.promised(order.policy.max_output_bytes);
        promised.deadline = promised.deadline.min(LONGEST_DEADLINE);
        let engine =
            roomy.engine().map_err(|failure| VerifyError::NoEngine(failure.hint("", "")))?;
        Ok(Self {
            engine: engine.clone(),
            promised,
            language: &order.language,
            image: plan.image().clone(),
            family,
            stoppers,
            roomy,
            narrow,
        })
    }

    pub(super) fn promised(&self) -> &Promised {
        &self.promised
    }

    /// What is verified.
    pub(super) fn subject(&self) -> Subject {
        let facts = self.engine.facts();
        let version = self.engine.server_version().ok().filter(|version| !version.is_empty());
        Subject {
            language: self.language.to_owned(),
            image: self.image.to_string(),
            engine: match version {
                Some(version) => format!("{} {version}", facts.kind.name()),
                None => facts.kind.name().to_owned(),
            },
            runtime: self.promised.runtime.clone(),
        }
    }

    pub(super) fn work(&self, job: Job, tell: &dyn Fn(News)) {
        match job {
            Job::Run(run) => self.single(run, tell),
            Job::Lifetime => {
                self.single(Run::Leave, tell);
                self.single(Run::Look, tell);
            }
            Job::Peers => self.peers(tell),
        }
    }

    fn single(&self, run: Run, tell: &dyn Fn(News)) {
        if let Some(reason) = probes::harm(run, &self.promised) {
            return tell(News::Told(run, Told::Spared(reason)));
        }
        let nonce = nonce();
        let code = probes::program(self.family, run, Part::Main, &self.promised, &nonce);
        match self.execute(run, &code, Live::default(), self.stoppers.next()) {
            Ok(outcome) => {
                for look in self.looks_after(run, &outcome) {
                    tell(News::Look(look));
                }
                tell(News::Told(run, seen(&outcome, &nonce)));
            }
            Err(error) => {
                let reason = error.to_string();
                for look in looks_of(run, &reason) {
                    tell(News::Look(look));
                }
                tell(News::Told(run, Told::Failed(reason)));
            }
        }
    }

    fn execute(
        &self,
        run: Run,
        code: &str,
        live: Live,
        stopper: Stopper,
    ) -> Result<Outcome, RunError> {
        let request = Request::new(self.language, code.as_bytes());
        match run {
            Run::Time => {
                let timeout = Some(self.promised.deadline);
                self.roomy.run(Request { timeout, live, stopper, ..request })
            }
            Run::Output => self.narrow.run(Request { live, stopper, ..request }),
            Run::Facts
            | Run::Cpu
            | Run::Memory
            | Run::Pids
            | Run::Leave
            | Run::Look
            | Run::Peers => self.roomy.run(Request { live, stopper, ..request }),
        }
    }

    /// What das looks at when a run has ended.
    fn looks_after(&self, run: Run, outcome: &Outcome) -> Vec<Looks> {
        match run {
            Run::Facts => {
                let names = self.engine.image_variables(&outcome.image);
                vec![Looks::ImageVariables(names.map_err(|error| error.to_string()))]
            }
            Run::Time => vec![
                Looks::Lived(self.lived(&outcome.run_id)),
                Looks::StillRunning(self.still_running(&outcome.run_id)),
            ],
            Run::Cpu
            | Run::Memory
            | Run::Pids
            | Run::Output
            | Run::Leave
            | Run::Look
            | Run::Peers => Vec::new(),
        }
    }

    /// How long the container ran, on the engine's own clock: a busy machine takes its time to
    /// start one.
    fn lived(&self, run_id: &str) -> Option<Duration> {
        self.engine
            .record(&RunTag::known(self.roomy.owner(), run_id), Expected::End)
            .ok()?
            .lifetime()
    }

    fn still_running(&self, run_id: &str) -> Result<Vec<String>, String> {
        let running = self.engine.containers_of(self.roomy.owner(), Phase::Running);
        let mut names = running.map_err(|error| error.to_string())?;
        names.retain(|name| name.ends_with(run_id));
        Ok(names)
    }

    /// Holds one container, and from another one looks for it.
    fn peers(&self, tell: &dyn Fn(News)) {
        let nonce = nonce();
        let program = |part| probes::program(self.family, Run::Peers, part, &self.promised, &nonce);
        let (holder, seeker) = (program(Part::Peer), program(Part::Main));
        let (sender, ready) = mpsc::channel();
        let stopper = self.stoppers.next();
        thread::scope(|scope| {
            let live =
                Live { stdout: Some(Arc::new(Mutex::new(Ready::new(sender)))), stderr: None };
            let hold = || self.execute(Run::Peers, &holder, live, stopper.clone());
            let held = match thread::Builder::new().spawn_scoped(scope, hold) {
                Ok(held) => held,
                Err(error) => {
                    let why = format!("the container beside it was not started: {error}");
                    return tell(News::Told(Run::Peers, Told::Failed(why)));
                }
            };
            let told = if ready.recv_timeout(READY_BOUND).is_ok() {
                tell(News::Look(Looks::LogDrivers(self.log_drivers())));
                self.seek(&seeker, &nonce)
            } else {
                Told::Failed("the container beside it did not start".to_owned())
            };
            stopper.stop(StopCause::Caller);
            let told = match held.join() {
                Ok(Ok(outcome)) => explained(told, &outcome),
                Ok(Err(error)) => Told::Failed(error.to_string()),
                Err(_) => Told::Failed("the container beside it was lost".to_owned()),
            };
            tell(News::Told(Run::Peers, told));
        });
    }

    fn seek(&self, code: &str, nonce: &str) -> Told {
        match self.execute(Run::Peers, code, Live::default(), self.stoppers.next()) {
            Ok(outcome) => seen(&outcome, nonce),
            Err(error) => Told::Failed(error.to_string()),
        }
    }

    /// Where the engine logs what the containers print that run now: one of them at least does,
    /// but a busy engine may not have noticed yet that its program has begun.
    fn log_drivers(&self) -> Result<Vec<String>, String> {
        let until = Instant::now() + NOTICE_BOUND;
        loop {
            let drivers = self.current_log_drivers();
            match &drivers {
                Ok(known) if known.is_empty() && Instant::now() < until => thread::sleep(POLL),
                Ok(_) | Err(_) => return drivers,
            }
        }
    }

    fn current_log_drivers(&self) -> Result<Vec<String>, String> {
        let names = self.engine.containers_of(self.roomy.owner(), Phase::Running);
        let names = names.map_err(|error| error.to_string())?;
        let drivers: Vec<_> = names.iter().map(|name| self.engine.log_driver(name)).collect();
        let known: Vec<String> =
            drivers.iter().filter_map(|it| it.as_ref().ok().cloned()).collect();
        // One that has ended meanwhile cannot be asked any more.
        match drivers.into_iter().find_map(Result::err) {
            Some(error) if known.is_empty() => Err(error.to_string()),
            Some(_) | None => Ok(known),
        }
    }

    /// What is left when all runs are over, given the time that a removal takes. It is removed.
    pub(super) fn left(&self, walls: &[Wall]) -> Looks {
        if !walls.contains(&Wall::Lifetime) {
            return Looks::Nothing;
        }
        let until = Instant::now() + REMOVAL_BOUND;
        loop {
            match self.engine.containers_of(self.roomy.owner(), Phase::Any) {
                Ok(names) if names.is_empty() || Instant::now() >= until => {
                    self.remove(&names);
                    return Looks::Left(Ok(names));
                }
                Ok(_) => thread::sleep(POLL),
                Err(error) => return Looks::Left(Err(error.to_string())),
            }
        }
    }

    fn remove(&self, names: &[String]) {
        for name in names {
            // What cannot be removed is in the report.
            self.engine.remove_named(name).ok();
        }
    }
}

/// The same walls with time and room for the probes: none of these limits is a flag.
fn with_room(policy: SandboxPolicy) -> SandboxPolicy {
    let max_output_bytes = policy.max_output_bytes.max(PROBE_OUTPUT_BYTES);
    SandboxPolicy { max_output_bytes, ..with_time(policy) }
}

fn with_time(policy: SandboxPolicy) -> SandboxPolicy {
    let max_code_bytes = policy.max_code_bytes.max(1 << 20);
    SandboxPolicy { timeout_seconds: PROBE_SECONDS, max_code_bytes, ..policy }
}

fn looks_of(run: Run, reason: &str) -> Vec<Looks> {
    let failed = || Err(reason.to_owned());
    match run {
        Run::Facts => vec![Looks::ImageVariables(failed())],
        Run::Time => vec![Looks::StillRunning(failed())],
        Run::Cpu | Run::Memory | Run::Pids | Run::Output | Run::Leave | Run::Look | Run::Peers => {
            Vec::new()
        }
    }
}

/// Where the holder never got ready, its own end says why.
fn explained(told: Told, holder: &Outcome) -> Told {
    match told {
        Told::Failed(reason) => {
            let why = holder.hint.as_ref().map(|hint| format!(": {hint}"));
            Told::Failed(format!("{reason} ({}){}", holder.verdict.name(), why.unwrap_or_default()))
        }
        Told::Seen(_) | Told::Spared(_) => told,
    }
}

fn seen(outcome: &Outcome, nonce: &str) -> Told {
    let stderr = outcome.stderr.text();
    let last_words = stderr.lines().rev().map(str::trim).find(|line| !line.is_empty());
    Told::Seen(Box::new(Observed {
        verdict: outcome.verdict,
        hint: outcome.hint.clone(),
        last_words: last_words.map(|line| line.chars().take(200).collect()),
        duration: outcome.duration,
        kept: outcome.stdout.bytes().len() as u64,
        printed: outcome.stdout.total(),
        warnings: outcome.warnings.clone(),
        facts: Facts::parse(outcome.stdout.bytes(), nonce),
    }))
}

/// Ties what a probe prints to its run.
fn nonce() -> String {
    let mut nonce = Uuid::new_v4().simple().to_string();
    nonce.truncate(16);
    nonce
}

/// Hears when a program says that it is ready.
struct Ready {
    heard: Vec<u8>,
    sender: Option<Sender<()>>,
}

impl Ready {
    const WORD: &'static [u8] = b"\"ready\"";

    fn new(sender: Sender<()>) -> Self {
        Self { heard: Vec::new(), sender: Some(sender) }
    }
}

impl Write for Ready {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.sender.is_some() {
            self.heard.extend_from_slice(bytes);
            if self.heard.windows(Self::WORD.len()).any(|window| window == Self::WORD) {
                // Nobody waits any more where it came too late.
                self.sender.take().map(|sender| sender.send(()).ok());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
