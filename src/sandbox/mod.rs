//! Runs programs under one policy: from a request to an [`Outcome`], audit included.
//!
//! The two faces, command line and MCP, and library users all come through here.

mod code;
mod image;
mod run;

pub use code::CodeError;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::audit::{AuditError, AuditLog};
use crate::engine::find::{self, HostEnv};
use crate::engine::{Engine, Filter, Patience};
use crate::images::ensure::Progress;
use crate::images::shelf::Shelf;
use crate::outcome::Outcome;
use crate::outcome::failure::Failure;
use crate::plan::argv::Argv;
use crate::plan::{CheckedPolicy, Refusal};
use crate::policy::{PolicyError, SandboxPolicy};
use crate::pool::{Pool, Size};
use crate::runner::{Live, Stopper};
use crate::sweep::{Rhythm, Sweeper};
use crate::tag::{Owner, RunTag};
use crate::watchdog::Watchdog;
use code::Code;
use run::{Run, Watch};

/// Runs programs under one policy. Runs are independent and may be concurrent.
#[derive(Debug)]
pub struct Sandbox {
    policy: CheckedPolicy,
    host: Result<Host, Failure>,
    owner: Owner,
    audit: Option<AuditLog>,
    images: Shelf,
    sweeps: Option<Rhythm>,
    /// Sweeps for as long as it is here.
    sweeper: OnceLock<Sweeper>,
}

/// An engine, and what guards its containers.
#[derive(Debug)]
struct Host {
    engine: Engine,
    pool: Option<Pool>,
    watchdog: Arc<Watchdog>,
}

impl Host {
    fn new(engine: Engine) -> Self {
        Self { watchdog: Arc::new(Watchdog::new(engine.clone())), pool: None, engine }
    }

    fn program(&self) -> &str {
        &self.engine.facts().program
    }
}

/// One program to run.
#[derive(Debug)]
pub struct Request<'a> {
    /// The language, by its name or an alias.
    pub language: &'a str,
    /// The program.
    pub code: &'a [u8],
    /// A shorter timeout than the policy's; a longer one changes nothing.
    pub timeout: Option<Duration>,
    /// Where the output is shown while it comes.
    pub live: Live,
    /// Whether a person watches while an image is fetched.
    pub progress: Progress,
    /// Who may end the run.
    pub stopper: Stopper,
}

impl<'a> Request<'a> {
    /// A program in a language, with everything else as the policy has it.
    pub fn new(language: &'a str, code: &'a [u8]) -> Self {
        let (live, stopper) = (Live::default(), Stopper::default());
        Self { language, code, timeout: None, live, progress: Progress::Hidden, stopper }
    }
}

/// Why nothing ran, or why nobody may rely on what did. A program that fails is an [`Outcome`], and so is an engine that does.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The policy does not hold on this machine.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The policy does not offer the language.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The program cannot be one.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The run cannot be recorded.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The program ran, but the log could not be written any more.
    #[error("the program ran, and its run is not recorded")]
    Unrecorded(#[source] AuditError),
}

/// Runs a Python program under a policy; [`Sandbox`] does the same for other languages and for
/// many runs.
///
/// # Errors
///
/// A policy that does not hold, or a text that is no program: nothing has run then. What the
/// program does, and what the engine does, is told by the [`Outcome`].
pub fn run_code(code: &str, policy: &SandboxPolicy) -> Result<Outcome, RunError> {
    let sandbox = Sandbox::new(policy.clone())?;
    sandbox.run(Request::new(crate::language::DEFAULT_LANGUAGE, code.as_bytes()))
}

impl Sandbox {
    /// Checks the policy and finds the engine. An engine that is not there is no error here: every
    /// run then says so, with the fix.
    pub fn new(policy: SandboxPolicy) -> Result<Self, Refusal> {
        let policy = CheckedPolicy::new(policy)?;
        let host = find::find(&policy.policy().engine, &HostEnv::current())
            .map(Host::new)
            .map_err(|error| Failure::NoEngine(error.to_string()));
        let filter = host.as_ref().map(|host| host.engine.facts().kind.filter());
        let policy = match filter {
            Ok(Filter::Loose) => policy.with_tight_filter()?,
            Ok(Filter::Tight) | Err(_) => policy,
        };
        Ok(Self {
            policy,
            host,
            owner: Owner::this_process(),
            audit: None,
            images: Shelf::default(),
            sweeps: None,
            sweeper: OnceLock::new(),
        })
    }

    /// Records every run to this log; a run that cannot be recorded is refused.
    #[must_use]
    pub fn with_audit(self, log: AuditLog) -> Self {
        Self { audit: Some(log), ..self }
    }

    /// Waits for the engine for another time than is usual. Parked containers come later.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        let host = self.host.map(|host| Host::new(host.engine.with_patience(patience)));
        Self { host, ..self }
    }

    /// Removes what dead processes left on the engine, in the background, from the first run on
    /// for as long as the sandbox lives. No run waits for it.
    #[must_use]
    pub fn with_sweeps(self, rhythm: Rhythm) -> Self {
        Self { sweeps: Some(rhythm), ..self }
    }

    fn begin_to_sweep(&self) {
        if let (Some(rhythm), Ok(host)) = (self.sweeps, &self.host) {
            self.sweeper.get_or_init(|| Sweeper::start(host.engine.clone(), rhythm));
        }
    }

    /// Keeps parked containers ready for each language in use, as many as the policy's `warm`
    /// says. They are given back when the sandbox is dropped.
    #[must_use]
    pub fn with_parked_containers(mut self) -> Self {
        let policy = self.policy.policy();
        let size = Size {
            containers: usize::try_from(policy.warm).unwrap_or(usize::MAX),
            idle: Duration::from_secs(policy.warm_idle_seconds),
            output_cap: self.output_cap(),
        };
        if let (Ok(host), 1..) = (self.host.as_mut(), size.containers) {
            let (engine, watchdog) = (host.engine.clone(), Arc::clone(&host.watchdog));
            host.pool = Some(Pool::new(engine, watchdog, self.owner.clone(), size));
        }
        self
    }

    /// Parks containers for a language that is likely to be used, in the background. Without
    /// [`with_parked_containers`](Self::with_parked_containers) this does nothing.
    pub fn expect(&self, language: &str) -> Result<(), PolicyError> {
        let plan = self.policy.plan(language)?;
        if let Some(pool) = self.pool() {
            pool.expect(&plan);
        }
        Ok(())
    }

    /// Begins to give back the parked containers, in the background: for a process that is to
    /// end within a bound. Runs go on, each in a fresh container.
    pub fn retire(&self) {
        if let Some(pool) = self.pool() {
            pool.retire();
        }
    }

    /// Waits until the parked containers are given back, at most until `until`; whether they are.
    pub fn retired_by(&self, until: Instant) -> bool {
        self.pool().is_none_or(|pool| pool.retired_by(until))
    }

    fn pool(&self) -> Option<&Pool> {
        self.host.as_ref().ok()?.pool.as_ref()
    }

    fn output_cap(&self) -> usize {
        usize::try_from(self.policy.policy().max_output_bytes).unwrap_or(usize::MAX)
    }

    /// The policy.
    pub fn policy(&self) -> &CheckedPolicy {
        &self.policy
    }

    /// The engine, for those who check its work.
    pub(crate) fn engine(&self) -> Result<&Engine, &Failure> {
        self.host.as_ref().map(|host| &host.engine)
    }

    /// Whose containers those of this sandbox are.
    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The command line that a program in this language would run with. It belongs to nobody, so
    /// that pasting it into a shell is safe.
    pub fn explain(&self, language: &str) -> Result<Argv, ExplainError> {
        let plan = self.policy.plan(language)?;
        let host = self.host.as_ref().map_err(|failure| ExplainError::NoEngine(failure.clone()))?;
        let tag = RunTag::new(&Owner::Nobody, plan.timeout());
        Ok(Argv::new(host.engine.facts(), &plan, &tag))
    }

    /// Runs a program to its end.
    pub fn run(&self, request: Request<'_>) -> Result<Outcome, RunError> {
        let mut plan = self.policy.plan(request.language)?;
        if let Some(timeout) = request.timeout {
            plan = plan.with_timeout_at_most(timeout);
        }
        let limit = self.policy.policy().max_code_bytes;
        let code = Code::new(request.language, request.code, limit)?;
        let pending = self.audit.as_ref().map(AuditLog::prepare).transpose()?;
        self.begin_to_sweep();
        let run = Run { sandbox: self, plan, code, notice: None };
        let Request { live, progress, stopper, language: _, code: _, timeout: _ } = request;
        let outcome = run.execute(&Watch { live, progress, stopper });
        if let Some(pending) = pending {
            let engine = self.host.as_ref().map_or("none", |host| host.engine.facts().kind.name());
            pending.write(&outcome, self.policy.policy(), engine).map_err(RunError::Unrecorded)?;
        }
        Ok(outcome)
    }
}

/// Why there is no command line to show.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The policy does not offer the language.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// There is no engine on this machine.
    #[error("{}", .0.hint("", ""))]
    NoEngine(Failure),
}
