//! Compares what the kernel enforces inside a container with what the policy says.

use super::finding::Finding;
use super::inside::{Inside, number};
use crate::engine::{EngineKind, Filter};
use crate::policy::{SandboxPolicy, SeccompChoice};

/// How much a share of processor time may differ from what was asked for: kernels round.
const ROUNDING: f64 = 0.02;

const DELEGATE: &str = "let the engine use cgroups: a rootless engine needs version 2 and the \
                        delegation of this controller";

/// Every check of this module.
pub(super) fn check(inside: &Inside, policy: &SandboxPolicy, kind: EngineKind) -> Vec<Finding> {
    vec![
        memory(inside, policy),
        swap(inside, policy),
        pids(inside, policy),
        cpus(inside, policy),
        nofile(inside, policy),
        seccomp(inside, policy, kind),
        lsm(inside),
        users(inside),
    ]
}

fn either(inside: &Inside, one: &str, two: &str) -> Option<u64> {
    inside.number(two).or_else(|| inside.number(one))
}

/// A limit is enforced where the kernel has no more than was asked for.
fn limit(check: &'static str, wanted: u64, seen: Option<u64>, unit: &str, fix: &str) -> Finding {
    match seen {
        None => Finding::unknown(check, "the container does not show its limit"),
        Some(seen) if seen <= wanted => Finding::ok(check, format!("{seen}{unit}, read inside")),
        Some(_) => {
            Finding::weak(check, format!("{wanted}{unit} is asked for and not enforced"), fix)
        }
    }
}

fn bytes(policy: &SandboxPolicy) -> u64 {
    policy.memory_mb.saturating_mul(1 << 20)
}

fn memory(inside: &Inside, policy: &SandboxPolicy) -> Finding {
    let seen = either(inside, "v1.memory", "v2.memory");
    // The kernel rounds down to whole pages, and so does this to whole MiB.
    let seen = seen.map(|seen| seen.div_ceil(1 << 20));
    limit("limit-memory", policy.memory_mb, seen, " MiB", DELEGATE)
}

/// Version 1 counts memory and swap together, version 2 swap alone.
fn swap(inside: &Inside, policy: &SandboxPolicy) -> Finding {
    const CHECK: &str = "limit-swap";
    let swap = inside.lines("swaps").len().saturating_sub(1);
    let both = inside.number("v1.swap").map(|both| both.saturating_sub(bytes(policy)));
    match inside.number("v2.swap").or(both) {
        Some(0) => Finding::ok(CHECK, "none, read inside"),
        Some(_) | None if swap == 0 => Finding::ok(CHECK, "this machine has none"),
        Some(_) => Finding::weak(CHECK, "a program may swap beyond its memory", DELEGATE),
        None => Finding::weak(
            CHECK,
            "the kernel does not count it: a program may swap beyond its memory",
            "boot the engine's machine with swapaccount=1, or without swap",
        ),
    }
}

fn pids(inside: &Inside, policy: &SandboxPolicy) -> Finding {
    let seen = either(inside, "v1.pids", "v2.pids");
    limit("limit-pids", policy.pids_limit, seen, " processes", DELEGATE)
}

fn cpus(inside: &Inside, policy: &SandboxPolicy) -> Finding {
    const CHECK: &str = "limit-cpus";
    let share = |quota: &str, period: &str| match number(quota.trim_start_matches('-')) {
        Some(_) if quota.starts_with('-') => Some(f64::INFINITY),
        Some(u64::MAX) => Some(f64::INFINITY),
        quota => Some(to_float(quota?) / to_float(number(period)?.max(1))),
    };
    let two = inside.line("v2.cpu").and_then(|line| line.split_once(' '));
    let one = inside.line("v1.quota").zip(inside.line("v1.period"));
    match two.or(one).and_then(|(quota, period)| share(quota, period)) {
        None => Finding::unknown(CHECK, "the container does not show its limit"),
        Some(seen) if seen <= policy.cpus + ROUNDING => {
            Finding::ok(CHECK, format!("{seen:.2}, read inside"))
        }
        Some(_) => {
            Finding::weak(CHECK, format!("{} is asked for and not enforced", policy.cpus), DELEGATE)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a period are far below 2^53")]
fn to_float(number: u64) -> f64 {
    number as f64
}

fn nofile(inside: &Inside, policy: &SandboxPolicy) -> Finding {
    let seen = inside.hard_limit("Max open files");
    let fix = "the engine ignores --ulimit: use one that does not";
    limit("limit-nofile", policy.nofile_limit, seen, " descriptors", fix)
}

fn seccomp(inside: &Inside, policy: &SandboxPolicy, kind: EngineKind) -> Finding {
    let replaced = policy.seccomp == SeccompChoice::Default && kind.filter() == Filter::Loose;
    match inside.status("Seccomp") {
        Some("2") if replaced => Finding::ok(
            "seccomp",
            "das's strict filter is in force, read inside: podman's own lets mount, unshare and \
             keyctl through",
        ),
        Some("2") => Finding::ok("seccomp", "a filter is in force, read inside"),
        Some(_) => Finding::weak(
            "seccomp",
            "no filter is in force",
            "start the engine with its default seccomp profile, on a kernel that has seccomp",
        ),
        None => Finding::unknown("seccomp", "the container does not show it"),
    }
}

/// `AppArmor` calls its profile by name and mode, `SELinux` has a context of four parts.
fn lsm(inside: &Inside) -> Finding {
    match inside.line("lsm").map(|line| line.trim_end_matches('\0')) {
        Some(label) if label.ends_with("(enforce)") => {
            Finding::ok("lsm", format!("AppArmor {label}, read inside"))
        }
        Some(label) if label.contains("container_t") => {
            Finding::ok("lsm", format!("SELinux {label}"))
        }
        Some(_) | None => Finding::note(
            "lsm",
            "neither AppArmor nor SELinux confines containers",
            "load AppArmor or SELinux on the engine's machine for one more wall",
        ),
    }
}

fn users(inside: &Inside) -> Finding {
    let Some(map) = inside.line("users") else {
        return Finding::unknown("user-namespace", "the container does not show its users");
    };
    let same = map.split_whitespace().eq(["0", "0", "4294967295"]);
    if same {
        return Finding::note(
            "user-namespace",
            "none: the container's users are the machine's own",
            "`userns-remap` in /etc/docker/daemon.json, or a rootless engine, separates them",
        );
    }
    Finding::ok("user-namespace", "the container has users of its own")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    const ONE: &str = "v1.memory 268435456\nv1.swap 268435456\nv1.pids 64\nv1.quota 50000\n\
        v1.period 100000\nstatus Seccomp:\t2\nusers 0 0 4294967295\n\
        limits Max open files  256  256  files\nswaps Filename\nswaps /dev/sda2 partition\n";
    const TWO: &str = "v2.memory 268435456\nv2.swap 0\nv2.pids 64\nv2.cpu 50000 100000\n\
        status Seccomp:\t2\nlsm docker-default (enforce)\nusers 0 100000 65536\n\
        limits Max open files  256  256  files\nswaps Filename\nswaps /dev/sda2 partition\n";
    const UNLIMITED: &str = "v2.memory max\nv2.swap max\nv2.pids max\nv2.cpu max 100000\n\
        status Seccomp:\t0\nusers 0 0 4294967295\n\
        limits Max open files  1024  1048576  files\nswaps Filename\nswaps /dev/sda2 partition\n";

    fn states(seen: &str) -> Vec<State> {
        let inside = Inside::parse(&format!("{seen}end here\n")).unwrap();
        let findings = check(&inside, &SandboxPolicy::default(), EngineKind::Docker);
        findings.iter().map(|finding| finding.state).collect()
    }

    #[test]
    fn limits_that_are_enforced_are_ok_under_both_versions_of_cgroups() {
        use State::{Note, Ok};
        assert_eq!(states(ONE), [Ok, Ok, Ok, Ok, Ok, Ok, Note, Note]);
        assert_eq!(states(TWO), [Ok; 8]);
    }

    #[test]
    fn limits_that_are_not_enforced_are_weak_and_those_unseen_unknown() {
        use State::{Note, Ok, Unknown, Weak};
        assert_eq!(states(UNLIMITED), [Weak, Weak, Weak, Weak, Weak, Weak, Note, Note]);
        let unseen = [Unknown, Ok, Unknown, Unknown, Unknown, Unknown, Note, Unknown];
        assert_eq!(states("swaps Filename\n"), unseen);
    }

    #[test]
    fn an_unlimited_quota_of_version_1_is_not_taken_for_a_small_one() {
        let seen = ONE
            .replace("v1.quota 50000", "v1.quota -1")
            .replace("268435456", "9223372036854771712");
        assert_eq!(states(&seen)[..4], [State::Weak, State::Weak, State::Ok, State::Weak]);
    }

    #[test]
    fn a_filter_of_das_in_place_of_the_engines_is_told() {
        let inside = Inside::parse(&format!("{TWO}end here\n")).unwrap();
        let told = |policy: &SandboxPolicy, kind| seccomp(&inside, policy, kind).found;
        let usual = SandboxPolicy::default();
        assert!(told(&usual, EngineKind::Podman).starts_with("das's strict filter is in force"));
        let own = SandboxPolicy { seccomp: "/own.json".parse().unwrap(), ..usual.clone() };
        for (policy, kind) in [(&usual, EngineKind::Docker), (&own, EngineKind::Podman)] {
            assert_eq!(told(policy, kind), "a filter is in force, read inside");
        }
    }

    #[test]
    fn swap_that_is_not_counted_matters_only_where_there_is_some() {
        let uncounted = ONE.replace("v1.swap 268435456\n", "");
        assert_eq!(states(&uncounted)[1], State::Weak);
        assert_eq!(states(&uncounted.replace("swaps /dev/sda2 partition\n", ""))[1], State::Ok);
    }
}
