//! What a policy opens or tightens, compared with the defaults.

use std::fmt::Display;

use super::Wall;
use crate::policy::{SandboxPolicy, SeccompChoice};

/// One difference between a policy and the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The wall that it concerns.
    pub wall: Wall,
    /// Whether it opens the wall.
    pub direction: Direction,
    /// Such as `memory_mb 512, default 256`.
    pub text: String,
}

/// Whether a program may do more or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// More.
    Opens,
    /// Less.
    Tightens,
    /// Neither: something else.
    Changes,
}

impl Direction {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opens => "opens",
            Self::Tightens => "tightens",
            Self::Changes => "changes",
        }
    }
}

/// Every difference. The policy is taken apart field by field, so that a new field which reaches
/// no wall does not compile. What the profile of its owner allows is in another file: these are
/// the calls of [`REFUSED_CALLS`](super::REFUSED_CALLS) among them.
pub fn changes(policy: &SandboxPolicy, allowed_calls: &[&str]) -> Vec<Change> {
    let usual = SandboxPolicy::default();
    let SandboxPolicy {
        timeout_seconds,
        memory_mb,
        cpus,
        pids_limit,
        tmpfs_mb,
        nofile_limit,
        max_output_bytes,
        // What is run, and how it is served, is behind the walls.
        max_code_bytes: _,
        images: _,
        languages: _,
        engine: _,
        pull: _,
        warm: _,
        warm_idle_seconds: _,
        max_concurrent: _,
        network,
        user,
        env,
        runtime,
        seccomp,
        work_dir,
    } = policy;
    let mut found = Found::default();
    found.number(Wall::Time, "timeout_seconds", timeout_seconds, &usual.timeout_seconds);
    found.number(Wall::Memory, "memory_mb", memory_mb, &usual.memory_mb);
    found.number(Wall::Cpu, "cpus", cpus, &usual.cpus);
    found.number(Wall::Pids, "pids_limit", pids_limit, &usual.pids_limit);
    found.number(Wall::Scratch, "tmpfs_mb", tmpfs_mb, &usual.tmpfs_mb);
    found.number(Wall::Descriptors, "nofile_limit", nofile_limit, &usual.nofile_limit);
    found.number(Wall::Output, "max_output_bytes", max_output_bytes, &usual.max_output_bytes);
    if *network {
        found.note(Wall::Network, Direction::Opens, "network true: everything can be reached");
    }
    if *user != usual.user {
        found.note(Wall::User, Direction::Changes, format!("user {user}, default {}", usual.user));
    }
    for name in env.keys() {
        found.note(Wall::Environment, Direction::Opens, format!("env: programs see {name}"));
    }
    if let Some(runtime) = runtime {
        let text = format!("runtime {runtime}: nothing runs without it");
        found.note(Wall::Syscalls, Direction::Changes, text);
    }
    match seccomp {
        SeccompChoice::Default => {}
        SeccompChoice::Strict => {
            found.note(
                Wall::Syscalls,
                Direction::Tightens,
                "seccomp strict: das's own, shorter list",
            );
        }
        SeccompChoice::Path(path) if allowed_calls.is_empty() => {
            let text = format!("seccomp {}: what this profile allows", path.display());
            found.note(Wall::Syscalls, Direction::Changes, text);
        }
        SeccompChoice::Path(path) => {
            let calls = allowed_calls.join(", ");
            let text = format!("seccomp {}: this profile allows {calls}", path.display());
            found.note(Wall::Syscalls, Direction::Opens, text);
        }
    }
    if let Some(dir) = work_dir {
        let access = if dir.writable { "read and changed" } else { "read" };
        let text = format!("work_dir: {} can be {access}", dir.path.display());
        found.note(Wall::Host, Direction::Opens, text);
    }
    found.0.sort_by_key(|change| change.wall);
    found.0
}

#[derive(Default)]
struct Found(Vec<Change>);

impl Found {
    fn note(&mut self, wall: Wall, direction: Direction, text: impl Into<String>) {
        self.0.push(Change { wall, direction, text: text.into() });
    }

    fn number<T: PartialOrd + Display>(&mut self, wall: Wall, key: &str, given: &T, usual: &T) {
        let direction = if given > usual {
            Direction::Opens
        } else if given < usual {
            Direction::Tightens
        } else {
            return;
        };
        self.note(wall, direction, format!("{key} {given}, default {usual}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(json: &str) -> Vec<String> {
        let policy = SandboxPolicy::from_json(json).unwrap();
        let line = |it: Change| format!("{} {}: {}", it.wall, it.direction.name(), it.text);
        changes(&policy, &["unshare"]).into_iter().map(line).collect()
    }

    #[test]
    fn the_defaults_change_nothing() {
        assert_eq!(changes(&SandboxPolicy::default(), &[]), []);
    }

    #[test]
    fn what_is_looser_opens_and_what_is_less_tightens() {
        let json = r#"{"memory_mb": 512, "cpus": 0.25, "network": true, "env": {"KEY": "x"},
            "seccomp": "/own.json"}"#;
        assert_eq!(
            told(json),
            [
                "network opens: network true: everything can be reached",
                "syscalls opens: seccomp /own.json: this profile allows unshare",
                "memory opens: memory_mb 512, default 256",
                "cpu tightens: cpus 0.25, default 0.5",
                "environment opens: env: programs see KEY",
            ]
        );
    }
}
