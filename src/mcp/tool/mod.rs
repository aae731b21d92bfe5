//! The one tool, `run_code`: what clients are told of it, what they may ask of it, and what it
//! answers. It knows the policy and outcomes; it knows neither Docker nor JSON-RPC.

mod arguments;
mod budget;
mod clean;
mod definition;
mod description;
mod fence;
mod result;

use std::fmt;

use serde_json::{Map, Value};

pub(crate) use definition::TOOL_NAME;
pub(crate) use description::INSTRUCTIONS;
pub(crate) use result::{CallResult, Structured};

use super::protocol::Version;
use super::standin::{Outcome, RunRequest, Stopper};
use crate::policy::SandboxPolicy;

/// Runs a program to its end, or until it is stopped.
pub(crate) type Run = dyn Fn(&RunRequest, &Stopper) -> Outcome + Send + Sync;

/// The tool, with what it was set up to grant.
pub(crate) struct Tool {
    policy: SandboxPolicy,
    run: Box<Run>,
}

/// A call whose arguments have passed their checks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    pub(crate) request: RunRequest,
    /// What was made of the arguments that the caller did not ask for, to be told in the hint.
    pub(crate) notes: Vec<String>,
}

impl Tool {
    /// `run` must not grant more than `policy`, which is what callers are told.
    pub(crate) fn new(
        policy: SandboxPolicy,
        run: impl Fn(&RunRequest, &Stopper) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        Self { policy, run: Box::new(run) }
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
        let outcome = (self.run)(&job.request, stopper);
        CallResult::of(&outcome, &job.notes, budget::total(&self.policy))
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
