//! The daemon's memory: the containers that exist, those that are gone, and what happened.
//! Whoever makes a change writes it here under the lock; there is no daemon process.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::event::Event;
use crate::failure::Failure;
use crate::state::State;

/// A container.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Container {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) image: String,
    pub(crate) command: Vec<String>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) network: String,
    pub(crate) auto_remove: bool,
    /// The `docker run` process.
    pub(crate) client: i32,
    pub(crate) created_nanos: u64,
    pub(crate) phase: Phase,
    pub(crate) oom_killed: bool,
}

/// How far a container has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    Created,
    Running,
    Exited(u8),
}

/// The containers and events of one state directory.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    state: State,
}

impl Store {
    pub(crate) fn new(state: &State) -> Self {
        Self { state: state.clone() }
    }

    /// Makes the container; `Err` holds the one that has the name.
    pub(crate) fn create(&self, container: &Container) -> Result<Result<(), String>, Failure> {
        let _lock = self.state.lock()?;
        if let Some(other) = self.named(&container.name)? {
            return Ok(Err(other.id));
        }
        self.save(container)?;
        self.log(container, "create", &[])?;
        Ok(Ok(()))
    }

    /// Goes from `Created` to `Running`; `false` where the container is no longer there.
    pub(crate) fn start(&self, id: &str) -> Result<bool, Failure> {
        let _lock = self.state.lock()?;
        let Some(mut container) = self.with_id(id)? else { return Ok(false) };
        if container.phase == Phase::Created {
            container.phase = Phase::Running;
            self.save(&container)?;
            self.log(&container, "start", &[])?;
        }
        Ok(true)
    }

    /// Ends the program with this code, unless it has ended. Returns the code it ended with.
    pub(crate) fn end(&self, id: &str, code: u8) -> Result<u8, Failure> {
        let _lock = self.state.lock()?;
        if let Some(gone) = self.gone(id)? {
            return Ok(gone.exit_code());
        }
        let Some(container) = self.with_id(id)? else { return Ok(code) };
        match container.phase {
            Phase::Exited(code) => Ok(code),
            Phase::Created | Phase::Running => self.die(container, code).map(|()| code),
        }
    }

    /// Sends SIGKILL to a running program: it dies at once.
    pub(crate) fn kill(&self, container: &Container) -> Result<(), Failure> {
        {
            let _lock = self.state.lock()?;
            self.log(container, "kill", &[("signal", "9")])?;
        }
        self.end(&container.id, 137).map(drop)
    }

    pub(crate) fn remove(&self, id: &str) -> Result<(), Failure> {
        let _lock = self.state.lock()?;
        match self.with_id(id)? {
            Some(container) => self.destroy(&container),
            None => Ok(()),
        }
    }

    pub(crate) fn oom(&self, id: &str) -> Result<(), Failure> {
        let _lock = self.state.lock()?;
        let Some(mut container) = self.with_id(id)? else { return Ok(()) };
        container.oom_killed = true;
        self.save(&container)?;
        self.log(&container, "oom", &[])
    }

    /// The code that the program ended with, once it has.
    pub(crate) fn exit_code(&self, of: &Container) -> Result<Option<u8>, Failure> {
        let last = match self.gone(&of.id)? {
            Some(gone) => return Ok(Some(gone.exit_code())),
            None if of.auto_remove => None,
            None => self.with_id(&of.id)?,
        };
        Ok(last.filter(Container::has_ended).map(|last| last.exit_code()))
    }

    /// Notes something that changes no container.
    pub(crate) fn note(
        &self,
        id: &str,
        action: &str,
        more: &[(&str, &str)],
    ) -> Result<(), Failure> {
        let _lock = self.state.lock()?;
        match self.with_id(id)? {
            Some(container) => self.log(&container, action, more),
            None => Ok(()),
        }
    }

    /// Asks the client to pass on what it has, and then to end its program.
    pub(crate) fn ask_to_drain(&self, id: &str) -> Result<(), Failure> {
        self.state.write(&self.state.file("draining", id)?, &())
    }

    pub(crate) fn is_asked_to_drain(&self, id: &str) -> bool {
        self.state.dir().join("draining").join(id).exists()
    }

    pub(crate) fn named(&self, name: &str) -> Result<Option<Container>, Failure> {
        self.state.read(&self.state.file("containers", &format!("{name}.json"))?)
    }

    /// By name or by id, as the daemon looks containers up.
    pub(crate) fn find(&self, name_or_id: &str) -> Result<Option<Container>, Failure> {
        match self.named(name_or_id)? {
            Some(container) => Ok(Some(container)),
            None => self.with_id(name_or_id),
        }
    }

    pub(crate) fn all(&self) -> Result<Vec<Container>, Failure> {
        let dir = self.state.file("containers", "")?;
        let entries = fs::read_dir(&dir).map_err(|error| self.state.failure(&dir, error))?;
        let mut containers = Vec::new();
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.extension().is_some_and(|ending| ending == "json") {
                containers.extend(self.state.read::<Container>(&path)?);
            }
        }
        containers.sort_by_key(|container| std::cmp::Reverse(container.created_nanos));
        Ok(containers)
    }

    /// A container that was removed.
    pub(crate) fn gone(&self, id: &str) -> Result<Option<Container>, Failure> {
        self.state.read(&self.state.file("gone", id)?)
    }

    pub(crate) fn events(&self) -> Result<Vec<Event>, Failure> {
        let path = self.event_log()?;
        match fs::read_to_string(&path) {
            Ok(text) => {
                Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.state.failure(&path, error)),
        }
    }

    fn with_id(&self, id: &str) -> Result<Option<Container>, Failure> {
        Ok(self.all()?.into_iter().find(|container| container.id == id))
    }

    fn die(&self, mut container: Container, code: u8) -> Result<(), Failure> {
        container.phase = Phase::Exited(code);
        self.save(&container)?;
        self.log(&container, "die", &[("exitCode", &code.to_string())])?;
        if container.auto_remove { self.destroy(&container) } else { Ok(()) }
    }

    /// The container's last state stays where its client finds it.
    fn destroy(&self, container: &Container) -> Result<(), Failure> {
        self.log(container, "destroy", &[])?;
        self.state.write(&self.state.file("gone", &container.id)?, container)?;
        let path = self.state.file("containers", &format!("{}.json", container.name))?;
        fs::remove_file(&path).map_err(|error| self.state.failure(&path, error))
    }

    fn save(&self, container: &Container) -> Result<(), Failure> {
        let path = self.state.file("containers", &format!("{}.json", container.name))?;
        self.state.write(&path, container)
    }

    /// Notes what happened to an image.
    pub(crate) fn note_image(&self, reference: &str, action: &str) -> Result<(), Failure> {
        let _lock = self.state.lock()?;
        self.append(&Event::of_image(reference, action, now_nanos()))
    }

    fn log(&self, of: &Container, action: &str, more: &[(&str, &str)]) -> Result<(), Failure> {
        self.append(&Event::new(of, action, more, now_nanos()))
    }

    fn append(&self, event: &Event) -> Result<(), Failure> {
        let path = self.event_log()?;
        let line = format!("{}\n", event.to_json());
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|error| self.state.failure(&path, error))
    }

    fn event_log(&self) -> Result<PathBuf, Failure> {
        self.state.file("events", "log")
    }
}

impl Container {
    fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Exited(_))
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.phase {
            Phase::Exited(code) => code,
            Phase::Created | Phase::Running => 137,
        }
    }
}

/// Like an id of the engine's: 64 hexadecimal digits that no other object has.
pub(crate) fn new_id(seed: &str) -> String {
    digest(format!("{seed} {} {}", std::process::id(), now_nanos()).as_bytes())
}

/// SHA-256 in lower-case hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

pub(crate) fn now_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
