//! Judges each wall by what its probes told.
//!
//! A wall holds only where the kernel's own answer says so. An answer that is missing is
//! [`Fault::Unknown`], never a wall that holds.

mod ends;
mod files;
mod limits;
mod power;
mod reach;

pub(super) use ends::{lifetime, output, time};
pub(super) use files::{filesystem, host, scratch};
pub(super) use limits::{core_dumps, cpu, descriptors, memory, pids};
pub use power::REFUSED_CALLS;
pub(super) use power::{capabilities, new_privileges, syscalls, user};
pub(super) use reach::{environment, isolation, network};

use super::evidence::Evidence;
use super::facts::{Answer, Facts};

/// What a judge says.
pub type Judgement = Result<Holding, Fault>;

/// A wall of which all that the policy promises holds, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holding {
    /// All of it.
    Held(String),
    /// What the policy has left of it.
    Open(String),
}

/// A wall that is not known to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It does not hold; the evidence.
    Broken(String),
    /// Nobody can say; the reason.
    Unknown(String),
}

impl Fault {
    pub(super) fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown(reason.into())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the counterpart of `broken`: what a judge returns")]
fn held(evidence: impl Into<String>) -> Judgement {
    Ok(Holding::Held(evidence.into()))
}

fn broken<T>(evidence: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Broken(evidence.into()))
}

/// Breaks the wall if something was possible that must not be; gives the kernel's answer
/// otherwise. None where this probe cannot try it.
fn refused(facts: &Facts, name: &str) -> Result<Option<String>, Fault> {
    match facts.attempt(name) {
        Some(attempt) => match attempt.answer {
            Answer::Allowed(_) => broken(attempt.told()),
            Answer::Refused(_) => Ok(Some(attempt.told())),
        },
        None => Ok(None),
    }
}

/// A field of `/proc/self/status`, which every kernel since the wall exists has.
fn status<'a>(facts: &'a Facts, name: &str) -> Result<&'a str, Fault> {
    facts
        .field("status", name)
        .ok_or_else(|| Fault::unknown(format!("/proc/self/status does not show {name}")))
}

fn listed<'a>(facts: &'a Facts, name: &str) -> Result<&'a [String], Fault> {
    facts.list(name).ok_or_else(|| {
        Fault::unknown(format!("the probe could not see the {name} of the container"))
    })
}

/// Whether the program has a kernel of its own: gVisor's, which calls itself by this version.
fn has_its_own_kernel(evidence: &Evidence, facts: &Facts) -> bool {
    let demanded = evidence.promised.runtime.as_deref().is_some_and(|name| name.contains("runsc"));
    let version = facts.first("version").unwrap_or_default();
    demanded && version.starts_with("Linux version 4.4.0")
}

#[cfg(test)]
mod tests;
