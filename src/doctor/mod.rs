//! `das doctor`: what on this machine keeps das from running or weakens it, each with its fix.
//!
//! Every check is independent and bounded: one that fails or hangs says that it is unknown, and
//! why, and holds up no other. What a check cannot see it does not claim.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::engine::find::{self, FindError, HostEnv};
use crate::plan::{CheckedPolicy, Refusal};
use crate::policy::SandboxPolicy;
use crate::runner::Stopper;
use crate::threads;

mod ask;
mod client;
mod daemon;
mod disk;
mod finding;
#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod images;
mod inside;
mod leftovers;
mod limits;
mod local;
mod probe;
mod text;
mod versions;

pub use finding::{Finding, Report, State};
pub use text::write_report;

/// Every check, in the order of the report.
pub const CHECKS: [&str; 25] = [
    "client",
    "client-version",
    "endpoint",
    "proxies",
    "daemon",
    "engine-version",
    "engine-warnings",
    "rootless",
    "runtimes",
    "cgroups",
    "disk",
    "images",
    "run",
    "limit-memory",
    "limit-swap",
    "limit-pids",
    "limit-cpus",
    "limit-nofile",
    "seccomp",
    "lsm",
    "user-namespace",
    "leftovers",
    "watchdog",
    "policy",
    "audit-log",
];

/// How long all of it may take: more than the bounds of any one check together.
const BOUND: Duration = Duration::from_mins(2);

/// How long a person waits without a word.
const SILENCE: Duration = Duration::from_secs(1);

/// What is examined.
#[derive(Debug)]
pub struct Examination {
    policy: CheckedPolicy,
    audit_log: Option<PathBuf>,
    stopper: Stopper,
    engine: Result<Engine, FindError>,
}

impl Examination {
    /// An examination for this policy, which a stopper may end early.
    pub fn new(
        policy: SandboxPolicy,
        audit_log: Option<PathBuf>,
        stopper: Stopper,
    ) -> Result<Self, Refusal> {
        let engine = find::find(&policy.engine, &HostEnv::current());
        Ok(Self { policy: CheckedPolicy::new(policy)?, audit_log, stopper, engine })
    }

    /// Examines this machine. `wait` hears, after a second and then now and again, which checks
    /// are still at work.
    pub fn report(self, wait: impl FnMut(&[&str])) -> Report {
        let (sender, receiver) = mpsc::channel();
        let parts = self.parts();
        let mut open: BTreeSet<usize> = (0..parts.len()).collect();
        let checks: Vec<&[&str]> = parts.iter().map(|part| part.checks).collect();
        for (number, part) in parts.into_iter().enumerate() {
            let sender = sender.clone();
            // A part that cannot be started has no answer, which is told of it.
            threads::spawn("das-doctor", move || part.work(number, &sender)).ok();
        }
        drop(sender);
        let mut findings = Vec::new();
        let mut wait = Waiting { wait, next: Instant::now() + SILENCE };
        let end = Instant::now() + BOUND;
        while !open.is_empty() && Instant::now() < end {
            match receiver.recv_timeout(wait.left().min(end - Instant::now())) {
                Ok((number, found)) => {
                    open.remove(&number);
                    findings.extend(found);
                }
                Err(RecvTimeoutError::Timeout) => wait.tell(open.iter().map(|it| checks[*it])),
                // A part that panicked has sent nothing.
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let silent = open.into_iter().flat_map(|number| checks[number]);
        findings.extend(silent.map(|check| Finding::unknown(check, "no answer in time")));
        Report::new(findings)
    }

    /// The groups of checks that share an answer.
    fn parts(self) -> Vec<Part> {
        let Self { policy, audit_log, stopper, engine } = self;
        let warnings = policy.warnings();
        let mut parts = vec![Part::new(&["policy"], move || local::policy(&warnings))];
        if let Some(path) = audit_log {
            parts.push(Part::new(&["audit-log"], move || local::audit_log(&path)));
        }
        match engine {
            Ok(engine) => parts.extend(of_engine(&engine, &policy, stopper)),
            Err(error) => parts.push(Part::new(&["client"], move || client::missing(&error))),
        }
        parts
    }
}

fn of_engine(engine: &Engine, policy: &CheckedPolicy, stopper: Stopper) -> [Part; 6] {
    let part = |checks, check: fn(&Engine, &SandboxPolicy) -> Vec<Finding>| {
        let (engine, policy) = (engine.clone(), policy.policy().clone());
        Part::new(checks, move || check(&engine, &policy))
    };
    let (runner, sandboxed) = (engine.clone(), policy.policy().clone());
    [
        part(&["client", "endpoint", "proxies"], client::check),
        part(&daemon::VERSION_CHECKS, daemon::versions),
        part(&daemon::INFO_CHECKS, daemon::info),
        part(&["leftovers"], leftovers::check),
        part(&["watchdog"], local::watchdog),
        Part::new(probe::checks(), move || probe::check(&runner, &sandboxed, &stopper)),
    ]
}

/// Checks that are made together, on a thread of their own.
struct Part {
    checks: &'static [&'static str],
    check: Box<dyn FnOnce() -> Vec<Finding> + Send>,
}

impl Part {
    fn new(
        checks: &'static [&'static str],
        check: impl FnOnce() -> Vec<Finding> + Send + 'static,
    ) -> Self {
        Self { checks, check: Box::new(check) }
    }

    fn work(self, number: usize, sender: &Sender<(usize, Vec<Finding>)>) {
        // An examination that is over hears nothing more.
        sender.send((number, (self.check)())).ok();
    }
}

/// Tells what is waited for.
struct Waiting<F> {
    wait: F,
    next: Instant,
}

impl<F: FnMut(&[&str])> Waiting<F> {
    fn left(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    fn tell<'a>(&mut self, open: impl Iterator<Item = &'a [&'static str]>) {
        if self.left().is_zero() {
            let first: Vec<&str> = open.filter_map(|checks| checks.first().copied()).collect();
            (self.wait)(&first);
            self.next = Instant::now() + 5 * SILENCE;
        }
    }
}
