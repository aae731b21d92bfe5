//! Runs programs under one policy: from a request to an [`Outcome`], audit included.
//!
//! The two faces, command line and MCP, and library users all come through here.

mod image;

use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::audit::{AuditError, AuditLog};
use crate::capture::Captured;
use crate::engine::command::CommandError;
use crate::engine::find::{self, HostEnv};
use crate::engine::{Engine, Facts};
use crate::images::ensure::Progress;
use crate::images::shelf::Shelf;
use crate::outcome::classify::{self, Ending, Evidence};
use crate::outcome::failure::Failure;
use crate::outcome::hints;
use crate::outcome::{Outcome, Verdict};
use crate::plan::argv::Argv;
use crate::plan::{CheckedPolicy, Plan, Refusal};
use crate::policy::{PolicyError, SandboxPolicy};
use crate::runner::{Fate, Launch, Live, Program, Ran, Stopper};
use crate::tag::{Owner, RunTag};
use crate::watchdog::Watchdog;

/// How much of the end of stderr a hint looks at.
const HINT_BYTES: usize = 4096;

/// Runs programs under one policy. Runs are independent and may be concurrent.
#[derive(Debug)]
pub struct Sandbox {
    policy: CheckedPolicy,
    host: Result<Host, Failure>,
    owner: Owner,
    audit: Option<AuditLog>,
    images: Shelf,
}

/// An engine, and what guards its containers.
#[derive(Debug)]
struct Host {
    engine: Engine,
    watchdog: Watchdog,
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

/// Why nothing ran. A program that fails is an [`Outcome`], and so is an engine that does.
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
}

/// Why a text is not taken for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// It has a NUL byte, at which some interpreters stop and report success.
    #[error("the code has a NUL byte at offset {offset}; send plain text")]
    Nul {
        /// Where the first one is.
        offset: usize,
    },
    /// It is too long.
    #[error("the code has {bytes} bytes, more than `max_code_bytes` of {limit}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The policy's limit.
        limit: u64,
    },
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
            .map(|engine| Host { watchdog: Watchdog::new(engine.clone()), engine })
            .map_err(|error| Failure::NoEngine(error.to_string()));
        Ok(Self {
            policy,
            host,
            owner: Owner::this_process(),
            audit: None,
            images: Shelf::default(),
        })
    }

    /// Records every run to this log; a run that cannot be recorded is refused.
    #[must_use]
    pub fn with_audit(self, log: AuditLog) -> Self {
        Self { audit: Some(log), ..self }
    }

    /// The policy.
    pub fn policy(&self) -> &CheckedPolicy {
        &self.policy
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
        self.check_code(request.code)?;
        let pending = self.audit.as_ref().map(AuditLog::prepare).transpose()?;
        let code_sha256 = hex(&Sha256::digest(request.code));
        let code = Code::prepare(&request);
        let run = Run { sandbox: self, plan, code, code_sha256, notice: None };
        let Request { live, progress, stopper, language: _, code: _, timeout: _ } = request;
        let outcome = run.execute(&Watch { live, progress, stopper });
        if let Some(pending) = pending {
            let engine = self.host.as_ref().map_or("none", |host| host.engine.facts().kind.name());
            pending.write(&outcome, self.policy.policy(), engine)?;
        }
        Ok(outcome)
    }

    fn check_code(&self, code: &[u8]) -> Result<(), CodeError> {
        let limit = self.policy.policy().max_code_bytes;
        if code.len() as u64 > limit {
            return Err(CodeError::TooLong { bytes: code.len(), limit });
        }
        match code.iter().position(|&byte| byte == 0) {
            Some(offset) => Err(CodeError::Nul { offset }),
            None => Ok(()),
        }
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

/// A program as its interpreter gets it.
struct Code {
    bytes: Arc<[u8]>,
    warning: Option<String>,
}

impl Code {
    /// A shell takes the carriage return of a Windows line end for part of a word.
    fn prepare(request: &Request<'_>) -> Self {
        let shell = crate::language::canonical_name(request.language) == "shell";
        if !shell || !request.code.windows(2).any(|pair| pair == b"\r\n") {
            return Self { bytes: request.code.into(), warning: None };
        }
        let mut bytes = request.code.to_vec();
        let mut index = 0;
        bytes.retain(|&byte| {
            index += 1;
            byte != b'\r' || request.code.get(index) != Some(&b'\n')
        });
        let warning = "Windows line ends (CRLF) in the script were read as LF".to_owned();
        Self { bytes: bytes.into(), warning: Some(warning) }
    }
}

/// Who watches a run and may end it.
struct Watch {
    live: Live,
    progress: Progress,
    stopper: Stopper,
}

/// One run, everything about it decided but its end.
struct Run<'a> {
    sandbox: &'a Sandbox,
    plan: Plan,
    code: Code,
    code_sha256: String,
    /// What is to be said about its image.
    notice: Option<String>,
}

/// What is known of a run that is over.
struct Happened {
    ending: Ending,
    stdout: Captured,
    stderr: Captured,
    duration: Duration,
    warnings: Vec<String>,
}

impl Happened {
    fn before_the_start(ending: Ending, duration: Duration) -> Self {
        let (stdout, stderr) = (Captured::default(), Captured::default());
        Self { ending, stdout, stderr, duration, warnings: Vec::new() }
    }
}

impl Run<'_> {
    fn execute(mut self, watch: &Watch) -> Outcome {
        let tag = RunTag::new(&self.sandbox.owner, self.plan.timeout());
        let started = Instant::now();
        let happened = match &self.sandbox.host {
            Err(failure) => Err(failure.clone()),
            Ok(host) => self.attempt(host, &tag, watch),
        };
        let happened = happened.unwrap_or_else(|failure| {
            // An image that is not fetched because the run was stopped is no failure.
            let stopped = watch.stopper.cause().map(Ending::Cancelled);
            let ending = stopped.unwrap_or(Ending::Failed(failure));
            Happened::before_the_start(ending, started.elapsed())
        });
        self.outcome(&tag, happened)
    }

    fn spawn(&self, host: &Host, tag: &RunTag, watch: &Watch) -> Result<Happened, Failure> {
        let Host { engine, watchdog } = host;
        let argv = Argv::new(engine.facts(), &self.plan, tag);
        // A container that nobody would remove if das were killed is not started.
        let guard = watchdog.guard(&tag.container()).map_err(|error| {
            Failure::Engine(format!("cannot start the watchdog of containers: {error}"))
        })?;
        let launch = Launch {
            engine: engine.clone(),
            command: argv.command_line(),
            tag: tag.clone(),
            output_cap: usize::try_from(self.sandbox.policy.policy().max_output_bytes)
                .unwrap_or(usize::MAX),
        };
        let waiting = launch.start().map_err(|error| spawn_failure(engine.facts(), &error))?;
        let ran = waiting.run(Program {
            code: Arc::clone(&self.code.bytes),
            timeout: self.plan.timeout(),
            live: watch.live.clone(),
            stopper: &watch.stopper,
        });
        match ran.fate {
            Fate::Gone => drop(guard),
            Fate::Unconfirmed => guard.keep(),
        }
        Ok(self.judge(tag, ran))
    }

    fn judge(&self, tag: &RunTag, ran: Ran) -> Happened {
        let Ran {
            client,
            stopping,
            record,
            fate,
            stdout,
            stderr,
            engine_words,
            duration,
            unclaimed: _,
        } = ran;
        let ending = classify::classify(&Evidence {
            client,
            stopping,
            record,
            engine_words: &engine_words,
            interpreter: self.plan.interpreter(),
        });
        let said = match ending.verdict() {
            // Then the hint has it.
            Verdict::SandboxError | Verdict::CannotStart => "",
            Verdict::Success
            | Verdict::Error
            | Verdict::Timeout
            | Verdict::OutOfMemory
            | Verdict::Cancelled => engine_words.as_str(),
        };
        let warnings = engine_warnings(said).chain(unconfirmed(fate, &ending, tag)).collect();
        Happened { ending, stdout, stderr, duration, warnings }
    }

    fn outcome(self, tag: &RunTag, happened: Happened) -> Outcome {
        let Happened { ending, stdout, stderr, duration, warnings } = happened;
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
            code_sha256: self.code_sha256,
            run_id: tag.id().to_owned(),
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
            },
        )
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
fn unconfirmed(fate: Fate, ending: &Ending, tag: &RunTag) -> Option<String> {
    let remove = format!("`docker rm -f {}` removes it", tag.container());
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

fn spawn_failure(facts: &Facts, error: &CommandError) -> Failure {
    match error {
        CommandError::NotFound { .. } => Failure::NoEngine(error.to_string()),
        CommandError::Spawn { source, .. } => {
            Failure::Engine(format!("cannot start `{}`: {source}", facts.program))
        }
        CommandError::TimedOut { .. }
        | CommandError::Stopped { .. }
        | CommandError::Wait { .. }
        | CommandError::Feed { .. } => Failure::Engine(error.to_string()),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}
