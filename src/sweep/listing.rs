//! Reads the engine's list of containers.
//!
//! The engine is asked for the labels that das itself sets, one by one: in the text of all labels
//! an image's own label could pose as another.

use serde::Deserialize;

use crate::names::ContainerId;
use crate::tag::{ContainerName, Owner};

/// One line of JSON for each container.
pub(super) const FORMAT: &str = "{\"id\":{{json .ID}},\"name\":{{json .Names}},\
    \"state\":{{json .State}},\
    \"owner\":{{json (.Label \"docker-agent-sandbox.owner\")}},\
    \"expires\":{{json (.Label \"docker-agent-sandbox.expires\")}}}";

/// A container of das.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its id.
    pub id: ContainerId,
    /// Its name.
    pub name: ContainerName,
    /// What it does.
    pub state: State,
    /// Whose it is; none where the label tells nothing.
    pub owner: Option<Owner>,
    /// Until when it may live, in seconds of Unix time; none where the label tells nothing.
    pub expires: Option<u64>,
}

/// What a container does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was made, and its program was not started.
    Created,
    /// Its program runs, or could go on to run.
    Running,
    /// Its program is over.
    Over,
}

impl State {
    /// Every state that engines tell; what is unknown may be running.
    fn of(text: &str) -> Self {
        match text {
            "created" | "configured" | "initialized" => Self::Created,
            "exited" | "dead" | "stopped" | "removing" => Self::Over,
            _ => Self::Running,
        }
    }

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Over => "over",
        }
    }
}

#[derive(Deserialize)]
struct Row {
    id: String,
    name: String,
    state: String,
    owner: String,
    expires: String,
}

/// The containers of das in a list, and how many lines of it are something else. A container
/// without das's name was not made by das: images made from a container inherit its labels, and
/// so do the containers made from them.
pub(super) fn parse(listed: &[u8]) -> (Vec<Found>, usize) {
    let lines = listed.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (mut found, mut others) = (Vec::new(), 0);
    for line in lines {
        match read(line) {
            Some(container) => found.push(container),
            None => others += 1,
        }
    }
    (found, others)
}

fn read(line: &[u8]) -> Option<Found> {
    let Row { id, name, state, owner, expires } = serde_json::from_slice(line).ok()?;
    Some(Found {
        id: id.parse().ok()?,
        name: name.parse().ok()?,
        state: State::of(&state.to_ascii_lowercase()),
        owner: owner.parse().ok(),
        expires: expires.parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::{EXPIRES_LABEL, OWNER_LABEL};

    fn row(name: &str, owner: &str, expires: &str) -> String {
        let id = "0123456789ab".repeat(5);
        format!(
            r#"{{"id":"{id}","name":"{name}","state":"exited","owner":"{owner}","expires":"{expires}"}}"#
        )
    }

    #[test]
    fn the_labels_that_are_asked_for_are_those_that_das_sets() {
        assert!(FORMAT.contains(&format!("(.Label \"{OWNER_LABEL}\")")));
        assert!(FORMAT.contains(&format!("(.Label \"{EXPIRES_LABEL}\")")));
    }

    #[test]
    fn a_container_of_das_is_read() {
        let lines = row("das-0123456789abcdef", "1bff.2.3.4", "5");
        let (found, others) = parse(lines.as_bytes());
        assert_eq!((found.len(), others), (1, 0));
        assert_eq!(found[0].owner.as_ref().unwrap().to_string(), "1bff.2.3.4");
        assert_eq!((found[0].state, found[0].expires), (State::Over, Some(5)));
    }

    #[test]
    fn labels_that_are_garbage_tell_nothing() {
        for (owner, expires) in [("", ""), ("root", "soon"), ("1.2.3", "-1"), ("nobody ", "1e9")] {
            let (found, _) = parse(row("das-0123456789abcdef", owner, expires).as_bytes());
            assert_eq!((&found[0].owner, found[0].expires), (&None, None), "{owner} {expires}");
        }
    }

    #[test]
    fn what_is_no_container_of_das_is_only_counted() {
        let lines = [row("my-database", "nobody", "1"), "{\"id\":".into(), "\u{fffd}".into()];
        assert_eq!(parse(lines.join("\n").as_bytes()), (Vec::new(), 3));
        assert_eq!(parse(b"\n\n"), (Vec::new(), 0));
    }

    #[test]
    fn a_state_that_nobody_knows_may_be_running() {
        for state in ["running", "paused", "restarting", "", "hibernating"] {
            assert_eq!(State::of(state), State::Running);
        }
    }
}
