//! What the server needs of the core: a request, a way to stop a run, and an outcome.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One program to run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunRequest {
    pub(crate) code: String,
    pub(crate) language: String,
    pub(crate) timeout_seconds: f64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Success,
    Error,
    Timeout,
    OutOfMemory,
    CannotStart,
    Cancelled,
    SandboxError,
}

impl Verdict {
    pub(crate) const ALL: [Self; 7] = [
        Self::Success,
        Self::Error,
        Self::Timeout,
        Self::OutOfMemory,
        Self::CannotStart,
        Self::Cancelled,
        Self::SandboxError,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::CannotStart => "cannot_start",
            Self::Cancelled => "cancelled",
            Self::SandboxError => "sandbox_error",
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) exit_code: Option<i32>,
    pub(crate) hint: Option<String>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) duration_seconds: f64,
    pub(crate) timed_out: bool,
    pub(crate) truncated: bool,
}

/// Stops a run from another thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stopper(Arc<AtomicBool>);

impl Stopper {
    pub(crate) fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
