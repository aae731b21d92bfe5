//! How much of the machine a program can take.

use super::{Fault, Judgement, broken, has_its_own_kernel, held, refused};
use crate::outcome::Verdict;
use crate::walls::evidence::{Evidence, Observed, Run};
use crate::walls::facts::{Answer, Facts};

const MIB: u64 = 1024 * 1024;

/// By how much a measured share of the processors may exceed the quota: one period's worth.
const SHARE_SLACK: f64 = 0.2;

pub(in crate::walls) fn memory(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let promised = evidence.promised.memory_mb;
    let limit = first_number(facts, &["memory.max", "memory.limit_in_bytes"]).map(|it| it / MIB);
    if let Some(limit) = limit.filter(|&limit| limit > promised) {
        return broken(format!("the limit is {}, not {promised} MiB", mib(limit)));
    }
    let swap = swap(facts, promised)?;
    if let (Some(reason), Some(limit)) = (evidence.spared(Run::Memory), limit) {
        return held(format!("limit of {limit} MiB, {swap}; not filled: {reason}"));
    }
    let hog = evidence.observed(Run::Memory)?;
    let took = last_number(&hog.facts, "took").unwrap_or(0);
    if took > promised || hog.facts.complete() {
        return broken(format!("a program took {took} MiB of {promised} and lived"));
    }
    match hog.verdict {
        Verdict::OutOfMemory => {
            held(format!("killed with {took} of {promised} MiB: out_of_memory; {swap}"))
        }
        Verdict::Success
        | Verdict::Error
        | Verdict::Timeout
        | Verdict::CannotStart
        | Verdict::Cancelled
        | Verdict::SandboxError => Err(hog.unfinished()),
    }
}

/// Why there is no swap on top of the memory. The first cgroup version counts both together.
fn swap(facts: &Facts, memory_mb: u64) -> Result<String, Fault> {
    let both = first_number(facts, &["memory.memsw.limit_in_bytes"]).map(|it| it / MIB);
    let extra = first_number(facts, &["memory.swap.max"]).map(|it| it / MIB);
    let swap = extra.or(both.map(|both| both.saturating_sub(memory_mb)));
    let machine = facts.field("meminfo", "SwapTotal").map(|text| text.starts_with("0 "));
    match (swap, machine) {
        (Some(0), _) => Ok("no swap".to_owned()),
        (Some(swap), _) => broken(format!("{} of swap on top of the memory", mib(swap))),
        (None, Some(true)) => Ok("this machine has no swap".to_owned()),
        (None, Some(false) | None) => Err(Fault::unknown("the limit of swap cannot be read")),
    }
}

fn mib(number: u64) -> String {
    if number > u64::MAX / MIB / 4 { "nothing".to_owned() } else { format!("{number} MiB") }
}

pub(in crate::walls) fn cpu(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let promised = evidence.promised.cpus;
    let quota = match quota(facts) {
        Some(Quota::Share(share)) if share > promised * 1.02 => {
            return broken(format!("the quota is {share:.2} processors, not {promised}"));
        }
        Some(Quota::None) => return broken("there is no quota"),
        Some(Quota::Share(share)) => Some(share),
        None => None,
    };
    let busy = evidence.facts(Run::Cpu)?;
    // gVisor counts waiting for a processor as running; what the program itself saw is right.
    let measured = if has_its_own_kernel(evidence, facts) { "ran" } else { "cpu" };
    let shares = busy.list(measured).unwrap_or_default().iter().filter_map(|line| share(line));
    let Some(share) = shares.max_by(f64::total_cmp) else {
        return Err(Fault::unknown("the probe has no clock that is fine enough"));
    };
    if share > promised * (1.0 + SHARE_SLACK) + SHARE_SLACK / 2.0 {
        return broken(format!("it got {share:.2} processors, not {promised}"));
    }
    let throttled = busy.first("throttled").map(|count| format!(", throttled {count} times"));
    let felt = format!("busy, it got {share:.2}{}", throttled.unwrap_or_default());
    match quota {
        Some(quota) => held(format!("a quota of {quota:.2} processors; {felt}")),
        // A machine that is busy itself gives little to everybody: that proves no quota.
        None if share > promised * (1.0 - SHARE_SLACK) => held(felt),
        None => Err(Fault::unknown(format!("the quota cannot be read; {felt} of {promised}"))),
    }
}

enum Quota {
    None,
    Share(f64),
}

fn quota(facts: &Facts) -> Option<Quota> {
    let text = |name| facts.first(name).map(str::to_owned);
    let newer = text("cpu.max");
    let older = || Some(format!("{} {}", text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?));
    let both = newer.or_else(older)?;
    let (quota, period) = both.split_once(' ')?;
    if quota == "max" || quota.starts_with('-') {
        return Some(Quota::None);
    }
    Some(Quota::Share(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?))
}

/// From `USED ELAPSED`, both in seconds.
fn share(text: &str) -> Option<f64> {
    let (used, elapsed) = text.split_once(' ')?;
    let (used, elapsed): (f64, f64) = (used.parse().ok()?, elapsed.parse().ok()?);
    (elapsed > 0.0).then(|| used / elapsed)
}

pub(in crate::walls) fn pids(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let promised = evidence.promised.pids;
    let limit = first_number(facts, &["pids.max"]);
    if let Some(limit) = limit.filter(|&limit| limit > promised) {
        let limit = if limit == u64::MAX { "none".to_owned() } else { limit.to_string() };
        return broken(format!("the limit is {limit}, not {promised}"));
    }
    if let (Some(reason), Some(limit)) = (evidence.spared(Run::Pids), limit) {
        return held(format!("limit of {limit}; no fork bomb: {reason}"));
    }
    let observed = evidence.observed(Run::Pids)?;
    if has_its_own_kernel(evidence, facts) && ended_with_its_kernel(observed, promised) {
        let started = last_number(&observed.facts, "forked").unwrap_or(0);
        return held(format!(
            "gVisor, whose threads count too, ended with {started} of {promised}"
        ));
    }
    let bomb = evidence.facts(Run::Pids)?;
    let started = last_number(bomb, "forked").unwrap_or(0);
    let Some(answer) = refused(bomb, "fork")? else {
        return Err(Fault::unknown("the probe started no processes"));
    };
    if started > promised {
        return broken(format!("it had {started} processes, not {promised}"));
    }
    held(format!("stopped with {started} of {promised}; {answer}"))
}

/// Where gVisor's kernel gets no thread any more, it ends with all that runs in it, in the midst
/// of the fork bomb.
fn ended_with_its_kernel(observed: &Observed, promised: u64) -> bool {
    let started = last_number(&observed.facts, "forked");
    observed.verdict == Verdict::Error
        && !observed.facts.complete()
        && observed.facts.attempt("fork").is_none()
        && started.is_some_and(|started| (1..=promised).contains(&started))
}

pub(in crate::walls) fn descriptors(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let promised = evidence.promised.nofile;
    let limits = limit(facts, "Max open files");
    if let Some((_, hard)) = limits.filter(|&(_, hard)| hard > promised) {
        return broken(format!("the limit is {hard}, not {promised}"));
    }
    let opened = last_number(facts, "opened");
    match (refused(facts, "nofile")?, opened, limits) {
        (Some(answer), Some(opened), _) if opened <= promised => {
            held(format!("opened {opened}; {answer}"))
        }
        (Some(_), Some(opened), _) => broken(format!("it opened {opened} files, not {promised}")),
        (_, _, Some((soft, hard))) => held(format!("limits of {soft} and {hard}")),
        (_, _, None) => Err(Fault::unknown("the kernel does not show the limit")),
    }
}

pub(in crate::walls) fn core_dumps(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let Some((soft, hard)) = limit(facts, "Max core file size") else {
        return Err(Fault::unknown("the kernel does not show the limit"));
    };
    if hard > 0 {
        return broken(format!("the limit is {}", mib(hard / MIB)));
    }
    // A handler of the machine is not bound by the limit: it may say that there is a dump.
    let piped = facts.first("core-pattern").is_some_and(|pattern| pattern.starts_with('|'));
    let crash = facts.attempt("core");
    match crash.map(|crash| (&crash.answer, crash.told())) {
        Some((Answer::Allowed(_), told)) if !piped => broken(told),
        Some((Answer::Refused(_), told)) => held(format!("limits of {soft} and {hard}; {told}")),
        Some((Answer::Allowed(_), _)) | None => held(format!("limits of {soft} and {hard}")),
    }
}

/// The soft and the hard limit in a line of `/proc/self/limits`, or of a shell's `ulimit`.
fn limit(facts: &Facts, name: &str) -> Option<(u64, u64)> {
    let values = facts.list("limits")?.iter().find_map(|line| line.strip_prefix(name))?;
    let mut values = values.split_whitespace().map(number);
    Some((values.next()??, values.next()??))
}

/// A number of the kernel; words such as `max` and `unlimited` stand for no limit.
fn number(text: &str) -> Option<u64> {
    match text {
        "max" | "unlimited" | "-1" => Some(u64::MAX),
        text => text.parse().ok(),
    }
}

fn first_number(facts: &Facts, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| number(facts.first(name)?))
}

fn last_number(facts: &Facts, name: &str) -> Option<u64> {
    number(facts.list(name)?.last()?.trim())
}
