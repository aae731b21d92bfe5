//! The one tool, `run_code`: what clients are told of it, what they may ask of it, and what it
//! answers. It knows the policy and outcomes; it knows neither Docker nor JSON-RPC.

#[cfg(any(fuzzing, test))]
pub(crate) mod always;
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
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

pub(crate) use arguments::default_language;
pub(crate) use budget::fitting;
pub(crate) use definition::TOOL_NAME;
pub(crate) use description::INSTRUCTIONS;
pub(crate) use result::{CallResult, Structured};

use super::protocol::Version;
use crate::policy::SandboxPolicy;
use crate::runner::Stopper;
use crate::sandbox::RunError;
use crate::{Outcome, Verdict};

/// What runs the jobs of the tool.
pub(crate) trait RunCode: fmt::Debug + Send + Sync {
    /// Runs a job to its end, or until it is stopped.
    fn run(&self, job: &Job, stopper: &Stopper) -> Result<Outcome, RunError>;

    /// A client is there that means to call. Returns at once.
    fn expect_calls(&self);

    /// No call will come any more: begins to give back what is kept for them. Returns at once.
    fn retire(&self);

    /// Waits until all is given back, at most until `until`; whether it is.
    fn retired_by(&self, until: Instant) -> bool;
}

/// The tool, with what it was set up to grant.
#[derive(Debug)]
pub(crate) struct Tool {
    policy: SandboxPolicy,
    code: Box<dyn RunCode>,
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
    /// `code` must not grant more than `policy`, which is what callers are told.
    pub(crate) fn new(policy: SandboxPolicy, code: impl RunCode + 'static) -> Self {
        Self { policy, code: Box::new(code) }
    }

    /// What runs the jobs.
    pub(crate) fn code(&self) -> &dyn RunCode {
        &*self.code
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
        match self.code.run(job, stopper) {
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
