//! The engine's short commands, each with its bound.

use std::time::{Duration, Instant};

use super::clock::own_now;
use super::command::{CommandError, Finished};
use super::record::Record;
use super::{Engine, EngineKind};
use crate::names::{ContainerId, ImageRef};
use crate::tag::{ContainerName, RunTag};

/// How long it may take to list containers: it looks at each.
const LIST_BOUND: Duration = Duration::from_secs(10);

/// What came of a request to kill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KillAnswer {
    /// The signal was delivered.
    Killed,
    /// The engine says why not: there is no such container (yet), or it is not running.
    Refused(String),
}

/// What came of a request to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoveAnswer {
    /// There was such a container, and the engine says that it is gone.
    Removed,
    /// There is no such container (yet).
    Absent,
    /// Somebody else is removing it.
    InProgress,
    /// The engine says why it cannot be removed, or why it cannot be reached.
    Refused(String),
}

/// What a record is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// There may be nothing to tell yet, or ever.
    Nothing,
    /// The container has been asked for, and may have been started.
    Start,
    /// The container's client has ended, so that the container should have.
    End,
}

impl Engine {
    /// Sends SIGKILL to a container's processes.
    pub fn kill(&self, name: &ContainerName) -> Result<KillAnswer, CommandError> {
        let finished = self.command(["kill", name.as_str()]).run(self.patience().stop)?;
        Ok(if finished.success() {
            KillAnswer::Killed
        } else {
            KillAnswer::Refused(finished.err())
        })
    }

    /// Removes a container in whichever state it is.
    pub fn remove(&self, name: &ContainerName) -> Result<RemoveAnswer, CommandError> {
        self.remove_any(name.as_str())
    }

    /// The same for the container of this id, whatever its name is by now.
    pub fn remove_id(&self, id: &ContainerId) -> Result<RemoveAnswer, CommandError> {
        self.remove_any(id.as_str())
    }

    fn remove_any(&self, container: &str) -> Result<RemoveAnswer, CommandError> {
        let remove = self.facts().kind.remove_command().iter().copied();
        let finished = self.command(remove.chain([container])).run(self.patience().stop)?;
        Ok(read_removal(self.facts().kind, &finished))
    }

    /// Every container with this label, in any state, a line each in this format.
    pub fn list(&self, label: &str, format: &str) -> Result<Vec<u8>, ListError> {
        let filter = format!("label={label}");
        let args = ["ps", "--all", "--no-trunc", "--filter", &filter, "--format", format];
        let finished = self.command(args).run(LIST_BOUND)?;
        if finished.success() {
            Ok(finished.stdout)
        } else {
            Err(ListError::Refused(finished.err()))
        }
    }

    /// What the engine remembers of a container, also after its removal.
    ///
    /// A record is told up to a time on the engine's clock. Where what is expected is not in it,
    /// that clock may be ahead of das's or behind it: then it is looked at, unless it was lately,
    /// and the record is asked for again.
    pub fn record(&self, tag: &RunTag, expected: Expected) -> Result<Record, RecordError> {
        let told = self.record_so_far(tag);
        let missing = match (expected, &told) {
            (Expected::Nothing, _) => false,
            (Expected::Start, Ok(record)) => record.is_empty(),
            (Expected::End, Ok(record)) => record.died.is_none(),
            (Expected::Start | Expected::End, Err(_)) => true,
        };
        if missing && self.learn_clock() { self.record_so_far(tag) } else { told }
    }

    /// Looks at the engine's clock, unless it was looked at lately. Whether the engine told.
    fn learn_clock(&self) -> bool {
        match self.facts().kind {
            // Its record is told to the end, not up to a time.
            EngineKind::Podman => return false,
            EngineKind::Docker | EngineKind::Nerdctl => {}
        }
        if self.clock.is_fresh(Instant::now()) {
            return false;
        }
        let asked = own_now();
        let format = "{{.SystemTime}}";
        let told = self.command(["info", "--format", format]).run(self.patience().ask);
        let shown = told.ok().filter(Finished::success).and_then(|told| {
            let time: jiff::Timestamp = told.out().parse().ok()?;
            Some(time.as_nanosecond())
        });
        self.clock.learn(asked, shown, own_now());
        shown.is_some()
    }

    fn record_so_far(&self, tag: &RunTag) -> Result<Record, RecordError> {
        let filter = format!("container={}", tag.container());
        let until = self.until_now();
        let ends = until.iter().map(String::as_str);
        let asked = ["--filter", &filter, "--format", "{{json .}}"];
        let args = ["events", "--since", "0"].into_iter().chain(ends).chain(asked);
        let finished = self.command(args).run(self.patience().ask)?;
        if finished.success() {
            Ok(Record::parse(&finished.stdout, tag.owner()))
        } else {
            Err(RecordError::Refused(finished.err()))
        }
    }

    /// What makes `events` end when it has told what has been.
    fn until_now(&self) -> Vec<String> {
        match self.facts().kind {
            // Podman's `--until` ends at that time, told or not.
            EngineKind::Podman => vec!["--stream=false".to_owned()],
            EngineKind::Docker | EngineKind::Nerdctl => {
                let now = self.clock.now();
                let now = format!("{}.{:09}", now.as_secs(), now.subsec_nanos());
                vec!["--until".to_owned(), now]
            }
        }
    }

    /// The id of a local image, if the engine has it.
    pub fn image_id(&self, image: &ImageRef) -> Result<Option<String>, CommandError> {
        let args = ["image", "inspect", "--format", "{{.Id}}", image.as_str()];
        let finished = self.command(args).run(self.patience().ask)?;
        Ok(finished.success().then(|| finished.out()))
    }
}

/// Why the engine's record of a container cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The command did not run to its end.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The engine refused, in its own words.
    #[error("the engine gave no record: {0}")]
    Refused(String),
}

/// Why the engine's containers cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The command did not run to its end.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The engine refused, in its own words.
    #[error("the engine lists no containers: {0}")]
    Refused(String),
}

/// `rm --force` of a missing container succeeds in newer clients and fails in older ones; both
/// say so. Nothing of this text comes from a program: its container has das's own name.
fn read_removal(kind: EngineKind, finished: &Finished) -> RemoveAnswer {
    // Podman names what it removes, and succeeds in silence where there is nothing to remove.
    let silent = kind == EngineKind::Podman && finished.success() && finished.out().is_empty();
    let text = format!("{} {}", finished.err(), finished.out()).to_ascii_lowercase();
    let absent = ["no such container", "no container with name", "not found"];
    if silent || absent.iter().any(|phrase| text.contains(phrase)) {
        RemoveAnswer::Absent
    } else if finished.success() {
        RemoveAnswer::Removed
    } else if text.contains("already in progress") {
        RemoveAnswer::InProgress
    } else {
        RemoveAnswer::Refused(finished.err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removal(kind: EngineKind, script: &str) -> RemoveAnswer {
        let shell = super::super::command::CommandLine::new("/bin/sh", ["-c", script]);
        read_removal(kind, &shell.run(Duration::from_secs(20)).unwrap())
    }

    #[test]
    fn a_container_that_is_not_there_is_told_from_one_that_was_removed() {
        use EngineKind::{Docker, Podman};
        let missing = "echo 'Error response from daemon: No such container: x' >&2; exit 1";
        assert_eq!(removal(Docker, missing), RemoveAnswer::Absent);
        assert_eq!(removal(Docker, "echo x"), RemoveAnswer::Removed);
        assert_eq!(removal(Podman, "echo x"), RemoveAnswer::Removed);
        assert_eq!(removal(Podman, "true"), RemoveAnswer::Absent);
        assert_eq!(removal(Docker, "true"), RemoveAnswer::Removed);
        let busy = "echo 'removal of container x is already in progress' >&2; exit 1";
        assert_eq!(removal(Docker, busy), RemoveAnswer::InProgress);
    }
}
