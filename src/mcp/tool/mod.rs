//! The one tool, `run_code`: what clients are told of it, what they may ask of it, and what it
//! answers. It knows the policy and outcomes; it knows neither Docker nor JSON-RPC.

mod arguments;
mod budget;
mod clean;
mod definition;
mod description;
mod fence;
mod result;
#[cfg(test)]
pub(crate) mod test_outcome;

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

pub(crate) use budget::fitting;
pub(crate) use definition::TOOL_NAME;
pub(crate) use description::INSTRUCTIONS;
pub(crate) use result::{CallResult, Structured};

use super::protocol::Version;
use crate::policy::SandboxPolicy;
use crate::runner::Stopper;
use crate::sandbox::RunError;
use crate::{Outcome, Verdict};

/// Runs a job to its end, or until it is stopped.
pub(crate) type Run = dyn Fn(&Job, &Stopper) -> Result<Outcome, RunError> + Send + Sync;

/// The tool, with what it was set up to grant.
pub(crate) struct Tool {
    policy: SandboxPolicy,
    run: Box<Run>,
    expect: Box<dyn Fn(&str) + Send + Sync>,
}

/// A call whose arguments have passed their checks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    pub(crate) code: String,
    /// The name of a language that the policy offers.
    pub(crate) language: String,
    /// Never more than the policy's.
    pub(crate) timeout: Duration,
    /// What was made of the arguments that the caller did not ask for, to be told in the hint.
    pub(crate) notes: Vec<String>,
}

impl Tool {
    /// `run` must not grant more than `policy`, which is what callers are told.
    pub(crate) fn new(
        policy: SandboxPolicy,
        run: impl Fn(&Job, &Stopper) -> Result<Outcome, RunError> + Send + Sync + 'static,
    ) -> Self {
        Self { policy, run: Box::new(run), expect: Box::new(|_| {}) }
    }

    /// `expect` hears of a language that is likely to be used soon. It must return at once.
    #[must_use]
    pub(crate) fn with_expectation(self, expect: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { expect: Box::new(expect), ..self }
    }

    /// A client has shown that it may call: its first call is likely to be in the first language.
    pub(crate) fn expect_calls(&self) {
        if let Some(language) = self.policy.offered_languages().first() {
            (self.expect)(language);
        }
    }

    /// What `tools/list` says of it.
    pub(crate) fn definition(&self, version: Version) -> Value {
        definition::definition(&self.policy, version)
    }

    /// Checks the arguments of a call. The error is an answer that teaches.
    pub(crate) fn prepare(&self, arguments: Map<String, Value>) -> Result<Job, Box<CallResult>> {
        arguments::read(arguments, &self.policy)
            .map_err(|error| Box::new(CallResult::invalid_input(error.to_string())))
    }

    /// Runs a job to its end, or until it is stopped.
    pub(crate) fn run(&self, job: &Job, stopper: &Stopper) -> CallResult {
        match (self.run)(job, stopper) {
            Ok(outcome) => {
                let mut notes = job.notes.clone();
                notes.extend(self.advice(job, outcome.verdict));
                CallResult::of(&outcome, &notes, budget::total(&self.policy))
            }
            Err(error) => CallResult::nothing_ran(&error),
        }
    }

    /// What only this tool's caller can do about a verdict.
    fn advice(&self, job: &Job, verdict: Verdict) -> Option<String> {
        let most = self.policy.timeout_seconds;
        let more = verdict == Verdict::Timeout && job.timeout.as_secs_f64() < most;
        more.then(|| format!("`timeout_seconds` may be up to {most}"))
    }

    /// How many jobs may run at once.
    pub(crate) fn max_concurrent(&self) -> usize {
        usize::try_from(self.policy.max_concurrent).unwrap_or(usize::MAX)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("policy", &self.policy).finish_non_exhaustive()
    }
}
