//! Decides whether a container was left behind.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::listing::{Found, State};
use crate::tag::{self, Owner, UNKNOWN_BOOT};

/// How far the clocks of two machines that share an engine may differ, in seconds: for so long
/// after its expiry a container of another machine is left alone. To remove a stranger's container
/// a little late costs some memory; to remove it early costs a run.
const CLOCK_GRACE: u64 = 10 * 60;

/// What is thought of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It was left behind.
    Remove(RemoveReason),
    /// It is left alone.
    Keep(KeepReason),
}

/// Why a container was left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveReason {
    /// Its owner, a process of this machine, is gone.
    OwnerGone,
    /// Its owner cannot be looked for, and it has expired.
    Expired,
}

/// Why a container is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepReason {
    /// Its owner lives.
    OwnerLives,
    /// Its owner is elsewhere, or nobody, and it has not expired.
    NotExpired,
    /// Somebody pasted what `das explain` printed, and its program runs.
    Pasted,
    /// Its labels do not tell when it expires.
    NoExpiry,
}

/// What there is of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Process {
    /// Nothing.
    Gone,
    /// It was started at this time since boot.
    Started(u64),
    /// It is there, and the system tells nothing about it.
    There,
}

/// Judges a container as the process `here` at the time `now`, in seconds of Unix time.
pub(super) fn judge(
    found: &Found,
    here: &Owner,
    now: u64,
    process: impl Fn(u32) -> Process,
) -> Judgement {
    match &found.owner {
        Some(owner @ Owner::Process { pid, started, .. }) if same_world(owner, here) => {
            match process(*pid) {
                Process::Gone => Judgement::Remove(RemoveReason::OwnerGone),
                // Its number is another process's now.
                Process::Started(at) if at != *started && *started != 0 => {
                    Judgement::Remove(RemoveReason::OwnerGone)
                }
                // Its expiry changes nothing: clocks jump, and a machine may have slept.
                Process::Started(_) | Process::There => Judgement::Keep(KeepReason::OwnerLives),
            }
        }
        // The command line may be pasted long after it was printed.
        Some(Owner::Nobody) if found.state == State::Running => Judgement::Keep(KeepReason::Pasted),
        Some(Owner::Nobody | Owner::Process { .. }) | None => by_expiry(found, now),
    }
}

fn by_expiry(found: &Found, now: u64) -> Judgement {
    match found.expires {
        None => Judgement::Keep(KeepReason::NoExpiry),
        Some(expires) if now > expires.saturating_add(CLOCK_GRACE) => {
            Judgement::Remove(RemoveReason::Expired)
        }
        Some(_) => Judgement::Keep(KeepReason::NotExpired),
    }
}

/// Whether the process ids of the two mean the same processes.
fn same_world(owner: &Owner, here: &Owner) -> bool {
    let world = |owner: &Owner| match owner {
        Owner::Process { boot, namespace, .. } if boot != UNKNOWN_BOOT && *namespace != 0 => {
            Some((boot.clone(), *namespace))
        }
        Owner::Process { .. } | Owner::Nobody => None,
    };
    world(owner).is_some_and(|it| world(here) == Some(it))
}

/// Looks for a process. `/proc` alone does not tell: it may hide the processes of other users.
pub(super) fn process(pid: u32) -> Process {
    // Numbers out of range are signs for groups, never processes.
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    match raw.map(test_kill_process) {
        None => Process::There,
        Some(Err(Errno::SRCH)) => Process::Gone,
        Some(Ok(()) | Err(_)) if tag::has_ended(pid) => Process::Gone,
        Some(Ok(()) | Err(_)) => tag::started(pid).map_or(Process::There, Process::Started),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    use std::process::Stdio;

    const NOW: u64 = 1_800_000_000;
    const HERE: &str = "1bff361e1d97.4026531836.100.5000";

    fn found(owner: &str, expires: Option<u64>, state: State) -> Found {
        Found {
            id: "0123456789ab".parse().unwrap(),
            name: "das-0123456789abcdef".parse().unwrap(),
            state,
            owner: owner.parse().ok(),
            expires,
        }
    }

    /// Process 7 was started at 70, process 8 is hidden, and no other is there.
    fn processes(pid: u32) -> Process {
        match pid {
            7 => Process::Started(70),
            8 => Process::There,
            _ => Process::Gone,
        }
    }

    fn judged(owner: &str, expires: Option<u64>, state: State) -> Judgement {
        judge(&found(owner, expires, state), &HERE.parse().unwrap(), NOW, processes)
    }

    const LONG_AGO: Option<u64> = Some(1);
    const LATER: Option<u64> = Some(NOW + 60);

    #[test]
    fn the_containers_of_a_dead_owner_go_in_every_state_and_before_their_expiry() {
        for state in [State::Created, State::Running, State::Over] {
            for expires in [None, LONG_AGO, LATER] {
                let judgement = judged("1bff361e1d97.4026531836.9.90", expires, state);
                assert_eq!(judgement, Judgement::Remove(RemoveReason::OwnerGone));
            }
        }
    }

    #[test]
    fn a_process_with_the_owners_number_and_another_start_is_not_the_owner() {
        let judgement = judged("1bff361e1d97.4026531836.7.71", LATER, State::Running);
        assert_eq!(judgement, Judgement::Remove(RemoveReason::OwnerGone));
    }

    #[test]
    fn a_live_siblings_container_stays_whatever_the_clock_says() {
        for owner in [
            "1bff361e1d97.4026531836.7.70",
            // Hidden from this user, and of an unknown start.
            "1bff361e1d97.4026531836.8.80",
            "1bff361e1d97.4026531836.7.0",
        ] {
            for state in [State::Created, State::Running, State::Over] {
                let judgement = judged(owner, LONG_AGO, state);
                assert_eq!(judgement, Judgement::Keep(KeepReason::OwnerLives), "{owner}");
            }
        }
    }

    #[test]
    fn an_owner_elsewhere_is_judged_by_the_expiry_alone() {
        for owner in [
            // Another boot or machine; a das in a container on this machine; systems that tell
            // neither; labels of garbage.
            "aaaaaaaaaaaa.4026531836.9.90",
            "1bff361e1d97.4026532500.9.90",
            "unknown.4026531836.9.90",
            "1bff361e1d97.0.9.90",
            "garbage",
        ] {
            let by = |expires| judged(owner, expires, State::Running);
            assert_eq!(by(LONG_AGO), Judgement::Remove(RemoveReason::Expired), "{owner}");
            assert_eq!(by(LATER), Judgement::Keep(KeepReason::NotExpired), "{owner}");
            assert_eq!(by(None), Judgement::Keep(KeepReason::NoExpiry), "{owner}");
        }
    }

    #[test]
    fn clocks_may_differ_by_the_grace() {
        let by = |expires| judged("aaaaaaaaaaaa.1.9.90", Some(expires), State::Running);
        assert_eq!(by(NOW - CLOCK_GRACE), Judgement::Keep(KeepReason::NotExpired));
        assert_eq!(by(NOW - CLOCK_GRACE - 1), Judgement::Remove(RemoveReason::Expired));
        assert_eq!(by(u64::MAX), Judgement::Keep(KeepReason::NotExpired));
    }

    #[test]
    fn a_pasted_command_line_is_left_alone_while_its_program_runs() {
        let by = |expires, state| judged("nobody", expires, state);
        assert_eq!(by(LONG_AGO, State::Running), Judgement::Keep(KeepReason::Pasted));
        for state in [State::Created, State::Over] {
            assert_eq!(by(LONG_AGO, state), Judgement::Remove(RemoveReason::Expired));
            assert_eq!(by(LATER, state), Judgement::Keep(KeepReason::NotExpired));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_found_while_it_lives_and_not_after() {
        let line = crate::engine::command::CommandLine::new("sleep", ["600"]);
        let mut child = line.to_command().stdin(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        assert!(matches!(process(pid), Process::Started(_)));
        child.kill().unwrap();
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), ended).unwrap();
        assert_eq!(process(pid), Process::Gone, "it is only waited for");
        child.wait().unwrap();
        assert_eq!(process(pid), Process::Gone);
        for impossible in [0, u32::MAX, 1 << 31] {
            assert_eq!(process(impossible), Process::There);
        }
    }
}
