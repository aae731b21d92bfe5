//! A tool's back end for tests and fuzzing: it runs nothing.

use std::time::Instant;

use super::{Job, RunCode};
use crate::Outcome;
use crate::runner::Stopper;
use crate::sandbox::RunError;

/// Comes to the same whatever it is to run; where there is nothing to come to, it is never asked.
#[derive(Debug)]
pub(crate) struct Always(pub(crate) Option<Outcome>);

impl RunCode for Always {
    fn run(&self, _: &Job, _: &Stopper) -> Result<Outcome, RunError> {
        Ok(self.0.clone().expect("nothing is to run here"))
    }

    fn expect_calls(&self) {}

    fn retire(&self) {}

    fn retired_by(&self, _: Instant) -> bool {
        true
    }
}
