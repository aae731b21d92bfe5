//! What a program may do to the kernel and in whose name.

use super::{Fault, Judgement, broken, has_its_own_kernel, held, refused, status};
use crate::walls::evidence::{Evidence, Run};
use crate::walls::facts::Answer;

/// Sets of capabilities that a process has.
const SETS: [&str; 5] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];

/// System calls that every profile of das and of the engines refuses to a program without root's
/// power.
const REFUSED_CALLS: [&str; 6] =
    ["mount", "unshare", "keyctl", "bpf", "userfaultfd", "perf_event_open"];

/// A system call that older engines let through.
const DOUBTFUL_CALL: &str = "io_uring_setup";

pub(in crate::walls) fn user(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let promised = evidence.promised.user;
    for (name, expected) in [("Uid", promised.uid()), ("Gid", promised.gid())] {
        let ids: Vec<&str> = status(facts, name)?.split_whitespace().collect();
        if ids.is_empty() || ids.iter().any(|id| *id != expected.to_string()) {
            let name = name.to_ascii_lowercase();
            return broken(format!("it runs with {name} {}, not {expected}", ids.join(" ")));
        }
    }
    let tried = refused(facts, "setuid")?;
    refused(facts, "setgid")?;
    let ids = format!("uid {}, gid {}", promised.uid(), promised.gid());
    held(tried.map_or_else(|| ids.clone(), |answer| format!("{ids}; {answer}")))
}

pub(in crate::walls) fn capabilities(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    for set in SETS {
        let bits = status(facts, set)?;
        if bits.is_empty() || bits.chars().any(|digit| digit != '0') {
            return broken(format!("the set {set} is not empty: {bits}"));
        }
    }
    held("all five sets are empty, the bounding set too")
}

pub(in crate::walls) fn new_privileges(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let tried = refused(facts, "setuid-program")?;
    match (facts.field("status", "NoNewPrivs"), tried) {
        (Some("1"), Some(answer)) => held(format!("NoNewPrivs: 1; {answer}")),
        (Some("1"), None) => held("NoNewPrivs: 1; the image has no setuid program to try"),
        (Some(other), _) => broken(format!("NoNewPrivs: {other}")),
        (None, Some(answer)) => held(answer),
        (None, None) => Err(Fault::unknown("the kernel does not show NoNewPrivs")),
    }
}

pub(in crate::walls) fn syscalls(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let own_kernel = has_its_own_kernel(evidence, facts);
    let filter = if own_kernel { "a kernel of its own" } else { "a seccomp filter is on" };
    match facts.field("status", "Seccomp") {
        Some("2") => {}
        _ if own_kernel => {}
        Some(mode) => return broken(format!("no filter is on, Seccomp: {mode}")),
        None => return Err(Fault::unknown("the kernel does not show Seccomp")),
    }
    let mut names = Vec::new();
    for name in REFUSED_CALLS {
        names.extend(refused(facts, &format!("syscall-{name}"))?.map(|_| name));
    }
    let refused = (!names.is_empty()).then(|| format!("; refused: {}", names.join(", ")));
    let doubtful = facts.attempt(&format!("syscall-{DOUBTFUL_CALL}"));
    let passes = doubtful.is_some_and(|attempt| matches!(attempt.answer, Answer::Allowed(_)));
    let passes = passes.then(|| format!("; the profile lets {DOUBTFUL_CALL} through"));
    held(format!("{filter}{}{}", refused.unwrap_or_default(), passes.unwrap_or_default()))
}
