//! `das mcp`: the sandbox as a tool of MCP clients, over stdin and stdout.
//!
//! [`rpc`] reads and writes messages, [`protocol`] decides what each is answered, [`tool`] is
//! what can be called, [`server`] does it all at once. None of it knows Docker.

mod protocol;
mod rpc;
mod server;
mod text;
mod tool;

pub(crate) use server::{End, Ended, Server, ServerStopper};
pub(crate) use tool::fitting;

use std::sync::Arc;

use crate::outcome::Outcome;
use crate::runner::Stopper;
use crate::sandbox::{Request, RunError, Sandbox};

/// A server that runs code in this sandbox. `warn` hears what its owner should know of each run.
pub(crate) fn server(sandbox: Arc<Sandbox>, warn: impl Fn(&str) + Send + Sync + 'static) -> Server {
    let policy = sandbox.policy().policy().clone();
    let expecting = Arc::clone(&sandbox);
    let run = move |job: &tool::Job, stopper: &Stopper| {
        let outcome = run(&sandbox, job, stopper)?;
        outcome.warnings.iter().for_each(|warning| warn(warning));
        Ok(outcome)
    };
    let expect = move |language: &str| {
        // A language that the policy does not offer is refused when it is called.
        expecting.expect(language).unwrap_or(());
    };
    let tool = tool::Tool::new(policy, run).with_expectation(expect);
    Server::new(tool, server::Pace::default())
}

fn run(sandbox: &Sandbox, job: &tool::Job, stopper: &Stopper) -> Result<Outcome, RunError> {
    sandbox.run(Request {
        timeout: Some(job.timeout),
        stopper: stopper.clone(),
        ..Request::new(&job.language, job.code.as_bytes())
    })
}
