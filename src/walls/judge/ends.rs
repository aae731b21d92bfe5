//! How a program ends and what it leaves: walls that das builds and sees from outside.

use std::time::Duration;

use super::{Fault, Judgement, broken, held, listed};
use crate::outcome::Verdict;
use crate::walls::evidence::{Evidence, Run, Told};

/// How long after its deadline a program may end: a busy machine takes its time to kill.
const LATENESS: Duration = Duration::from_secs(5);

/// The line in the place of what was left out.
const MARKER_BYTES: u64 = 200;

pub(in crate::walls) fn time(evidence: &Evidence) -> Judgement {
    let deadline = evidence.promised.deadline;
    if let Some(Told::Seen(observed)) = evidence.runs.get(&Run::Time)
        && observed.verdict == Verdict::SandboxError
        && observed.facts.list("ready").is_some()
    {
        let why = observed.hint.as_deref().unwrap_or("nobody confirms that it is dead");
        return broken(format!("after {:.1} s: {why}", observed.duration.as_secs_f64()));
    }
    let observed = evidence.observed(Run::Time)?;
    if observed.verdict != Verdict::Timeout {
        return Err(Fault::unknown(format!("the probe ended with {}", observed.verdict.name())));
    }
    let took = evidence.outside.lived.unwrap_or(observed.duration);
    let told = format!("a deadline of {} s", deadline.as_secs_f64());
    let took_seconds = took.as_secs_f64();
    if took > deadline + LATENESS {
        return broken(format!("{told}, killed after {took_seconds:.1} s"));
    }
    match &evidence.outside.still_running {
        Some(Ok(names)) if names.is_empty() => {
            held(format!("ignored all signals; {told}, killed after {took_seconds:.1} s, and gone"))
        }
        Some(Ok(names)) => {
            broken(format!("after the deadline it still runs: {}", names.join(", ")))
        }
        Some(Err(reason)) => Err(Fault::unknown(reason)),
        None => Err(Fault::unknown("nobody looked whether it still runs")),
    }
}

pub(in crate::walls) fn output(evidence: &Evidence) -> Judgement {
    let observed = evidence.observed(Run::Output)?;
    let cap = evidence.promised.output_bytes;
    if observed.verdict != Verdict::Success || observed.printed <= cap {
        return Err(observed.unfinished());
    }
    if observed.kept > cap + MARKER_BYTES {
        return broken(format!("{} bytes were kept, not {cap}", observed.kept));
    }
    match &evidence.outside.log_drivers {
        Some(Ok(drivers)) => match drivers.iter().find(|driver| *driver != "none") {
            Some(driver) => broken(format!("the engine keeps a log of it: {driver}")),
            None if drivers.is_empty() => {
                Err(Fault::unknown("the engine does not tell where it logs"))
            }
            None => held(format!(
                "printed {} bytes, kept {}; the log driver is none",
                observed.printed,
                observed.kept.min(cap)
            )),
        },
        Some(Err(reason)) => Err(Fault::unknown(reason)),
        None => Err(Fault::unknown("the engine was not asked where it logs")),
    }
}

pub(in crate::walls) fn lifetime(evidence: &Evidence) -> Judgement {
    evidence.facts(Run::Leave)?;
    let look = evidence.facts(Run::Look)?;
    if let Some(file) = listed(look, "found")?.first() {
        return broken(format!("a file of the run before is still there: {file}"));
    }
    if let Some(process) = listed(look, "daemon")?.first() {
        return broken(format!("a process of the run before is still there: {process}"));
    }
    match &evidence.outside.left {
        Some(Ok(names)) if names.is_empty() => {
            held("left files and a daemon; the next run found neither, and no container")
        }
        Some(Ok(names)) => broken(format!("containers are left: {}", names.join(", "))),
        Some(Err(reason)) => Err(Fault::unknown(reason)),
        None => Err(Fault::unknown("nobody looked for containers that are left")),
    }
}
