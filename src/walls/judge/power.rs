//! What a program may do to the kernel and in whose name.

use super::{Fault, Holding, Judgement, broken, has_its_own_kernel, held, refused, status};
use crate::walls::evidence::{Evidence, Run};
use crate::walls::facts::{Answer, Facts, Try};

/// Sets of capabilities that a process has.
const SETS: [&str; 5] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];

/// The set that gVisor's kernel does not have.
const AMBIENT: &str = "CapAmb";

/// System calls that the profiles of das and of Docker refuse to a program without root's power.
pub const REFUSED_CALLS: [&str; 6] =
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
    let own_kernel = has_its_own_kernel(evidence, facts);
    let lacks_ambient = own_kernel && facts.field("status", AMBIENT).is_none();
    for set in SETS.into_iter().filter(|set| !lacks_ambient || *set != AMBIENT) {
        let bits = status(facts, set)?;
        if bits.is_empty() || bits.chars().any(|digit| digit != '0') {
            return broken(format!("the set {set} is not empty: {bits}"));
        }
    }
    let all = if lacks_ambient { "all four sets of gVisor" } else { "all five sets" };
    held(format!("{all} are empty, the bounding set too"))
}

pub(in crate::walls) fn new_privileges(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let tried = refused(facts, "setuid-program")?;
    // gVisor tells it only who asks.
    let asked = facts.first("no-new-privs");
    match (facts.field("status", "NoNewPrivs").or(asked), tried) {
        (Some("1"), Some(answer)) => held(format!("NoNewPrivs: 1; {answer}")),
        (Some("1"), None) => held("NoNewPrivs: 1; no setuid program was tried"),
        (Some(other), _) => broken(format!("NoNewPrivs: {other}")),
        (None, Some(answer)) => held(answer),
        (None, None) => Err(Fault::unknown("the kernel does not show NoNewPrivs")),
    }
}

pub(in crate::walls) fn syscalls(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let granted = &evidence.promised.allowed_calls;
    let own_kernel = has_its_own_kernel(evidence, facts);
    let (filter, passes) = match facts.field("status", "Seccomp") {
        Some("2") if own_kernel => ("a kernel of its own and a seccomp filter", Passes::TheFilter),
        Some("2") => ("a seccomp filter is on", Passes::TheFilter),
        _ if own_kernel => ("a kernel of its own", Passes::Nothing),
        Some(_) if granted.len() == REFUSED_CALLS.len() => ("no filter is on", Passes::TheFilter),
        Some(mode) => return broken(format!("no filter is on, Seccomp: {mode}")),
        None => return Err(Fault::unknown("the kernel does not show Seccomp")),
    };
    let calls = Calls::tried(facts);
    let mut passed = calls.passed.iter().filter(|(name, _)| !granted.contains(name));
    match (passes, passed.next()) {
        (Passes::TheFilter, Some((_, attempt))) => return broken(attempt.told()),
        (Passes::TheFilter, None) | (Passes::Nothing, _) => {}
    }
    let told = format!("{filter}; {}", calls.told(passes));
    if granted.is_empty() {
        return held(told);
    }
    Ok(Holding::Open(format!("the profile of the policy allows {}; {told}", granted.join(", "))))
}

/// What a call has passed that is not refused.
#[derive(Debug, Clone, Copy)]
enum Passes {
    TheFilter,
    /// gVisor has answered it itself: the machine's kernel has heard nothing of it.
    Nothing,
}

/// The system calls that a probe has tried.
struct Calls<'a> {
    passed: Vec<(&'static str, &'a Try)>,
    refused: Vec<&'static str>,
    doubtful_passed: bool,
}

impl<'a> Calls<'a> {
    fn tried(facts: &'a Facts) -> Self {
        let attempt = |name| facts.attempt(&format!("syscall-{name}"));
        let is_allowed = |attempt: &Try| matches!(attempt.answer, Answer::Allowed(_));
        let tried = REFUSED_CALLS.into_iter().filter_map(|name| Some((name, attempt(name)?)));
        let (passed, refused): (Vec<_>, Vec<_>) = tried.partition(|(_, it)| is_allowed(it));
        Self {
            passed,
            refused: refused.into_iter().map(|(name, _)| name).collect(),
            doubtful_passed: attempt(DOUBTFUL_CALL).is_some_and(is_allowed),
        }
    }

    fn told(&self, passes: Passes) -> String {
        let doubtful = self.doubtful_passed.then_some(DOUBTFUL_CALL);
        let passed = self.passed.iter().map(|(name, _)| *name);
        let mut told = Vec::new();
        if self.passed.is_empty() && self.refused.is_empty() {
            told.push("no call was tried: the image has nothing that makes one".to_owned());
        }
        if !self.refused.is_empty() {
            told.push(format!("refused: {}", self.refused.join(", ")));
        }
        match passes {
            Passes::TheFilter => {
                told.extend(doubtful.map(|name| format!("the profile lets {name} through")));
            }
            Passes::Nothing => {
                let answered: Vec<&str> = passed.chain(doubtful).collect();
                if !answered.is_empty() {
                    told.push(format!("answered by gVisor alone: {}", answered.join(", ")));
                }
            }
        }
        told.join("; ")
    }
}
