//! What is known when a wall is judged: what the policy promises, what the probes' runs told, and
//! what das itself saw from outside.

use std::collections::BTreeMap;
use std::time::Duration;

use super::facts::Facts;
use super::judge::Fault;
use crate::names::User;
use crate::outcome::Verdict;

/// The runs that the probes share. Each is one container, [`Run::Peers`] two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Run {
    /// Looks around and tries doors.
    Facts,
    /// Keeps processors busy.
    Cpu,
    /// Takes memory until it dies.
    Memory,
    /// Starts processes until it may not.
    Pids,
    /// Ignores signals and never ends.
    Time,
    /// Prints more than is kept.
    Output,
    /// Leaves files and a process behind.
    Leave,
    /// Looks for what the one before has left.
    Look,
    /// Looks for another container that runs beside it.
    Peers,
}

/// Every run.
pub const RUNS: [Run; 9] = [
    Run::Facts,
    Run::Cpu,
    Run::Memory,
    Run::Pids,
    Run::Time,
    Run::Output,
    Run::Leave,
    Run::Look,
    Run::Peers,
];

/// What the policy promises, as far as the walls depend on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Promised {
    /// Whether the network is shut.
    pub network: NetworkPromise,
    /// The user and group.
    pub user: User,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// Processors.
    pub cpus: f64,
    /// Processes and threads.
    pub pids: u64,
    /// Size of `/tmp` in MiB.
    pub tmpfs_mb: u64,
    /// Open files of each process.
    pub nofile: u64,
    /// The deadline of the run that never ends.
    pub deadline: Duration,
    /// Bytes kept of each stream.
    pub output_bytes: u64,
    /// The names of the variables that the program is given.
    pub env: Vec<String>,
    /// What the policy mounts, such as `/srv/data at /work, writable`.
    pub mount: Option<String>,
    /// The OCI runtime that the policy demands.
    pub runtime: Option<String>,
    /// The system calls that are refused elsewhere, and that the policy's own profile allows.
    pub allowed_calls: Vec<&'static str>,
}

/// What a policy says of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkPromise {
    /// Nothing is reachable.
    Shut,
    /// Everything is.
    Open,
}

/// What one run told, and how it ended.
#[derive(Debug, Clone)]
pub struct Observed {
    /// How it ended.
    pub verdict: Verdict,
    /// Why, in das's words, where das has any.
    pub hint: Option<String>,
    /// The last line of its standard error.
    pub last_words: Option<String>,
    /// From the start of its client to its end.
    pub duration: Duration,
    /// Bytes kept of standard output.
    pub kept: u64,
    /// Bytes that it printed there.
    pub printed: u64,
    /// What the engine and das warned of.
    pub warnings: Vec<String>,
    /// What it told.
    pub facts: Facts,
}

/// What came of one run.
#[derive(Debug, Clone)]
pub enum Told {
    /// It ran.
    Seen(Box<Observed>),
    /// It would do harm under this policy, for this reason.
    Spared(String),
    /// It could not be run, for this reason.
    Failed(String),
}

/// What is known when a wall is judged.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// What the policy promises.
    pub promised: Promised,
    /// What the runs told.
    pub runs: BTreeMap<Run, Told>,
    /// What das saw.
    pub outside: Outside,
}

/// What das saw from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outside {
    /// The names of the variables in the image.
    pub image_env: Option<Result<Vec<String>, String>>,
    /// The log drivers of running containers, as the engine names them.
    pub log_drivers: Option<Result<Vec<String>, String>>,
    /// How long the container lived that had to be killed, if the engine remembers.
    pub lived: Option<Duration>,
    /// Containers that run after the deadline.
    pub still_running: Option<Result<Vec<String>, String>>,
    /// Containers of this process that are left at the end, in any state.
    pub left: Option<Result<Vec<String>, String>>,
    /// The host's own namespaces, such as `pid:[4026531836]`.
    pub namespaces: Vec<String>,
}

impl Evidence {
    /// What a run told, however it ended.
    pub fn observed(&self, run: Run) -> Result<&Observed, Fault> {
        match self.runs.get(&run) {
            Some(Told::Seen(observed)) if observed.verdict == Verdict::SandboxError => {
                Err(Fault::unknown(observed.hint.as_deref().unwrap_or("the probe did not run")))
            }
            Some(Told::Seen(observed)) => Ok(observed),
            Some(Told::Spared(reason) | Told::Failed(reason)) => Err(Fault::unknown(reason)),
            None => Err(Fault::unknown("its probe has not run")),
        }
    }

    /// Why a run was spared, if it was.
    pub fn spared(&self, run: Run) -> Option<&str> {
        match self.runs.get(&run) {
            Some(Told::Spared(reason)) => Some(reason),
            Some(Told::Seen(_) | Told::Failed(_)) | None => None,
        }
    }

    /// What a run told that came to its end.
    pub fn facts(&self, run: Run) -> Result<&Facts, Fault> {
        let observed = self.observed(run)?;
        if observed.facts.complete() { Ok(&observed.facts) } else { Err(observed.unfinished()) }
    }
}

impl Observed {
    /// Why nothing can be said of a probe that stopped early.
    pub fn unfinished(&self) -> Fault {
        let last_words = self.last_words.as_ref().filter(|_| self.verdict == Verdict::Error);
        let why = last_words.or(self.hint.as_ref()).map(|why| format!(": {why}"));
        let verdict = self.verdict.name();
        let why = why.unwrap_or_default();
        Fault::Unknown(format!("the probe did not finish ({verdict}){why}"))
    }
}
