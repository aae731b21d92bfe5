//! `das mcp`: the sandbox as a tool of MCP clients, over stdin and stdout.
//!
//! [`rpc`] reads and writes messages, [`protocol`] decides what each is answered, [`tool`] is
//! what can be called, [`server`] does it all at once. None of it knows Docker.

#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod protocol;
mod rpc;
mod server;
mod text;
mod tool;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

pub(crate) use server::{End, Ended, Server, ServerStopper};
pub(crate) use tool::fitting;

use crate::outcome::Outcome;
use crate::runner::Stopper;
use crate::sandbox::{Request, RunError, Sandbox};
use tool::{Job, RunCode, Tool, default_language};

/// A server that runs code in this sandbox. `warn` hears what its owner should know of each run.
pub(crate) fn server(sandbox: Arc<Sandbox>, warn: impl Fn(&str) + Send + Sync + 'static) -> Server {
    let policy = sandbox.policy().policy().clone();
    let default_language = default_language(&policy);
    let code = InSandbox { sandbox, default_language, warn: Box::new(warn) };
    Server::new(Tool::new(policy, code), server::Pace::default())
}

/// Runs jobs in a sandbox.
struct InSandbox {
    sandbox: Arc<Sandbox>,
    default_language: Option<String>,
    warn: Box<dyn Fn(&str) + Send + Sync>,
}

impl RunCode for InSandbox {
    fn run(&self, job: &Job, stopper: &Stopper) -> Result<Outcome, RunError> {
        let outcome = self.sandbox.run(Request {
            timeout: Some(job.timeout),
            stopper: stopper.clone(),
            ..Request::new(&job.language, job.code.as_bytes())
        })?;
        outcome.warnings.iter().for_each(|warning| (self.warn)(warning));
        Ok(outcome)
    }

    fn expect_calls(&self) {
        let expected = self.default_language.as_deref().map(|name| self.sandbox.expect(name));
        // A language that the policy does not offer is refused when it is asked for.
        if let Some(Err(error)) = expected {
            (self.warn)(&error.to_string());
        }
    }

    fn retire(&self) {
        self.sandbox.retire();
    }

    fn retired_by(&self, until: Instant) -> bool {
        self.sandbox.retired_by(until)
    }
}

impl fmt::Debug for InSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InSandbox").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}
