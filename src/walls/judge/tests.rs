//! Judgements of what no engine of every machine shows: gVisor's kernel, profiles of a policy's
//! owner, and an engine that adds memory to write to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::outcome::Verdict;
use crate::walls::evidence::{NetworkPromise, Observed, Outside, Promised, Run, Told};

/// What gVisor calls itself.
const GVISOR: (&str, &str) = ("version", "Linux version 4.4.0 #1 SMP");

const FILTERED: (&str, &str) = ("status", "Seccomp: 2");
const UNFILTERED: (&str, &str) = ("status", "Seccomp: 0");

/// Lines of lists, and tries with what came of them.
type Lines<'a> = [(&'a str, &'a str)];

fn print(lists: &Lines<'_>, tries: &Lines<'_>) -> String {
    let mut text = String::new();
    for (of, line) in lists {
        writeln!(text, "{}", json!({"das": "n", "of": of, "line": line})).unwrap();
    }
    for (of, came) in tries {
        writeln!(text, "{}", json!({"das": "n", "of": of, "tried": of, *came: "so"})).unwrap();
    }
    text
}

fn whole(lists: &Lines<'_>, tries: &Lines<'_>) -> (Verdict, String) {
    (Verdict::Success, print(lists, tries) + r#"{"das": "n", "of": "end"}"#)
}

fn told((verdict, printed): (Verdict, String)) -> Told {
    Told::Seen(Box::new(Observed {
        verdict,
        hint: None,
        last_words: None,
        duration: Duration::from_secs(1),
        kept: 0,
        printed: 0,
        warnings: Vec::new(),
        facts: Facts::parse(printed.as_bytes(), "n"),
    }))
}

fn evidence<const N: usize>(runs: [(Run, (Verdict, String)); N]) -> Evidence {
    let promised = Promised {
        network: NetworkPromise::Shut,
        user: "65534:65534".parse().unwrap(),
        memory_mb: 256,
        cpus: 0.5,
        pids: 64,
        tmpfs_mb: 32,
        nofile: 256,
        deadline: Duration::from_secs(1),
        output_bytes: 65536,
        env: Vec::new(),
        mount: None,
        runtime: None,
        allowed_calls: Vec::new(),
    };
    let runs: BTreeMap<Run, Told> = runs.into_iter().map(|(run, it)| (run, told(it))).collect();
    Evidence { promised, runs, outside: Outside::default() }
}

/// The same where the policy demands gVisor.
fn under_gvisor(mut evidence: Evidence) -> Evidence {
    evidence.promised.runtime = Some("runsc".to_owned());
    evidence
}

fn of_facts(lists: &Lines<'_>, tries: &Lines<'_>) -> Evidence {
    evidence([(Run::Facts, whole(lists, tries))])
}

/// The same where the profile of the policy's owner allows these calls.
fn allowing(calls: &[&'static str], mut evidence: Evidence) -> Evidence {
    evidence.promised.allowed_calls = calls.to_vec();
    evidence
}

#[track_caller]
fn is_held(judgement: &Judgement, evidence: &str) {
    assert_eq!(*judgement, Ok(Holding::Held(evidence.to_owned())));
}

#[track_caller]
fn is_broken(judgement: &Judgement, evidence: &str) {
    assert_eq!(*judgement, Err(Fault::Broken(evidence.to_owned())));
}

#[track_caller]
fn is_unknown(judgement: &Judgement) {
    assert!(matches!(judgement, Err(Fault::Unknown(_))), "{judgement:?}");
}

#[test]
fn a_call_that_is_let_through_breaks_the_wall_unless_the_profile_of_the_owner_allows_it() {
    let tries = [("syscall-mount", "refused"), ("syscall-unshare", "allowed")];
    let evidence = of_facts(&[FILTERED], &tries);
    is_broken(&syscalls(&evidence), "syscall-unshare: so");
    is_broken(&syscalls(&allowing(&["mount"], evidence.clone())), "syscall-unshare: so");
    let opened = "the profile of the policy allows unshare; a seccomp filter is on; refused: mount";
    let judged = syscalls(&allowing(&["unshare"], evidence));
    assert_eq!(judged, Ok(Holding::Open(opened.to_owned())));
}

#[test]
fn a_probe_that_makes_no_call_believes_the_filter_and_says_so() {
    let evidence = of_facts(&[FILTERED], &[]);
    let untried = "a seccomp filter is on; no call was tried: the image has nothing that makes one";
    is_held(&syscalls(&evidence), untried);
    let opened = format!("the profile of the policy allows bpf; {untried}");
    assert_eq!(syscalls(&allowing(&["bpf"], evidence)), Ok(Holding::Open(opened)));
}

#[test]
fn a_missing_filter_breaks_the_wall_unless_the_profile_of_the_owner_refuses_nothing() {
    let evidence = of_facts(&[UNFILTERED], &[("syscall-mount", "refused")]);
    is_broken(&syscalls(&evidence), "no filter is on, Seccomp: 0");
    is_broken(&syscalls(&allowing(&["mount"], evidence.clone())), "no filter is on, Seccomp: 0");
    let judged = syscalls(&allowing(&REFUSED_CALLS, evidence));
    assert!(matches!(judged, Ok(Holding::Open(_))), "{judged:?}");
}

#[test]
fn what_gvisor_answers_itself_is_no_call_of_the_machines_kernel() {
    let tries = [("syscall-mount", "refused"), ("syscall-unshare", "allowed")];
    let evidence = of_facts(&[GVISOR, UNFILTERED], &tries);
    is_held(
        &syscalls(&under_gvisor(evidence.clone())),
        "a kernel of its own; refused: mount; answered by gVisor alone: unshare",
    );
    // A kernel of that name that nobody demanded, and a filter in gVisor that lets it through.
    is_broken(&syscalls(&evidence), "no filter is on, Seccomp: 0");
    let filtered = under_gvisor(of_facts(&[GVISOR, FILTERED], &tries));
    is_broken(&syscalls(&filtered), "syscall-unshare: so");
}

#[test]
fn gvisor_has_four_sets_of_capabilities_and_other_kernels_five() {
    let empty = ["CapInh: 0", "CapPrm: 0", "CapEff: 0", "CapBnd: 0"];
    let lines: Vec<_> = empty.iter().map(|line| ("status", *line)).chain([GVISOR]).collect();
    let evidence = of_facts(&lines, &[]);
    is_unknown(&capabilities(&evidence));
    let all = "all four sets of gVisor are empty, the bounding set too";
    is_held(&capabilities(&under_gvisor(evidence)), all);
    let full: Vec<_> = lines.into_iter().chain([("status", "CapAmb: 1")]).collect();
    let evidence = under_gvisor(of_facts(&full, &[]));
    is_broken(&capabilities(&evidence), "the set CapAmb is not empty: 1");
}

#[test]
fn a_fork_bomb_that_ends_gvisor_has_met_the_limit() {
    let ended = |printed| [(Run::Facts, whole(&[GVISOR], &[])), (Run::Pids, printed)];
    let midst = || (Verdict::Error, print(&[("forked", "1"), ("forked", "49")], &[]));
    is_held(
        &pids(&under_gvisor(evidence(ended(midst())))),
        "gVisor, whose threads count too, ended with 49 of 64",
    );
    is_unknown(&pids(&evidence(ended(midst()))));
    is_unknown(&pids(&under_gvisor(evidence(ended((Verdict::Error, String::new()))))));
    let killed = (Verdict::OutOfMemory, print(&[("forked", "9")], &[]));
    is_unknown(&pids(&under_gvisor(evidence(ended(killed)))));
    let free = whole(&[("forked", "72")], &[("fork", "allowed")]);
    is_broken(&pids(&under_gvisor(evidence(ended(free)))), "fork: so");
}

#[test]
fn the_share_of_a_program_under_gvisor_is_what_it_saw_of_the_clock() {
    let judged = |ran: &[&str]| {
        let ran = ran.iter().map(|line| ("ran", *line));
        let lines: Vec<_> = [("cpu", "9.0 1.0")].into_iter().chain(ran).collect();
        let runs = [(Run::Facts, whole(&[GVISOR], &[])), (Run::Cpu, whole(&lines, &[]))];
        cpu(&under_gvisor(evidence(runs)))
    };
    is_held(&judged(&["0.1 1.0", "0.5 1.0"]), "busy, it got 0.50");
    is_broken(&judged(&["0.5 1.0", "1.9 1.0"]), "it got 1.90 processors, not 0.5");
    // A busy machine, and a probe that saw nothing.
    is_unknown(&judged(&["0.1 1.0"]));
    is_unknown(&judged(&[]));
}

#[test]
fn memory_to_write_to_beside_tmp_is_noticed() {
    let tmp = "1 0 0:1 / /tmp rw,noexec,nosuid,nodev - tmpfs tmpfs rw,size=32768k";
    let masked = "2 0 0:2 / /proc/acpi rw - tmpfs tmpfs rw";
    let bound = "3 0 0:3 /some/hosts /etc/hosts rw - tmpfs tmpfs rw";
    let usual = [("mounts", tmp), ("mounts", masked), ("mounts", bound)];
    is_held(&scratch(&of_facts(&usual, &[])), "/tmp: 32 MiB, noexec, nosuid, nodev");
    let more = ("mounts", "4 0 0:4 / /run rw,nosuid,nodev - tmpfs tmpfs rw");
    let lines: Vec<_> = usual.into_iter().chain([more]).collect();
    is_broken(&scratch(&of_facts(&lines, &[])), "/run is writable memory too");
}

#[test]
fn gvisor_shows_noexec_alone_and_it_must_be_there() {
    let judged = |options: &str| {
        let tmp = format!("1 0 0:1 / /tmp {options} - tmpfs none rw,size=32m");
        scratch(&under_gvisor(of_facts(&[GVISOR, ("mounts", &tmp)], &[])))
    };
    is_held(&judged("rw,noexec"), "/tmp: 32 MiB, noexec");
    is_broken(&judged("rw"), "/tmp is not mounted noexec");
}
