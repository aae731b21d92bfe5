//! The library in the test's own process: for waits whose usual bounds are longer than a test.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use docker_agent_sandbox::engine::Patience;
use docker_agent_sandbox::policy::EngineChoice;
use docker_agent_sandbox::runner::Stopper;
use docker_agent_sandbox::{Outcome, Request, Sandbox, SandboxPolicy};

use super::stand_in::StandIn;

/// Longer than any bound that a test sets.
const BOUND: Duration = Duration::from_mins(1);

/// A sandbox on the stand-in.
#[derive(Debug)]
pub(crate) struct InProcess<'a> {
    sandbox: Arc<Sandbox>,
    stand_in: &'a StandIn,
}

/// A run in progress.
#[derive(Debug)]
pub(crate) struct Pending<'a> {
    outcome: Receiver<Outcome>,
    stand_in: &'a StandIn,
}

impl<'a> InProcess<'a> {
    pub(crate) fn new(stand_in: &'a StandIn, timeout_seconds: f64, patience: Patience) -> Self {
        let policy = SandboxPolicy {
            timeout_seconds,
            engine: EngineChoice::Path(stand_in.path()),
            ..SandboxPolicy::default()
        };
        let sandbox = Sandbox::new(policy).expect("an accepted policy").with_patience(patience);
        Self { sandbox: Arc::new(sandbox), stand_in }
    }

    /// Runs a program to its end, which must come.
    #[track_caller]
    pub(crate) fn run(&self) -> Outcome {
        self.start().wait()
    }

    pub(crate) fn start(&self) -> Pending<'a> {
        self.start_with(Stopper::default())
    }

    /// A run that this stopper ends, perhaps before it begins.
    pub(crate) fn start_with(&self, stopper: Stopper) -> Pending<'a> {
        let (sender, outcome) = mpsc::sync_channel(1);
        let sandbox = Arc::clone(&self.sandbox);
        let request = Request { stopper, ..Request::new("python", b"pass") };
        // A test that has failed does not wait any more.
        thread::spawn(move || sender.send(sandbox.run(request).expect("a run")).unwrap_or(()));
        Pending { outcome, stand_in: self.stand_in }
    }
}

impl Pending<'_> {
    #[track_caller]
    pub(crate) fn wait(self) -> Outcome {
        match self.outcome.recv_timeout(BOUND) {
            Ok(outcome) => outcome,
            Err(error) => panic!("no outcome: {error}\n{}", self.stand_in),
        }
    }
}
