//! What das looks at from outside, and which walls wait for it.

use std::fs;
use std::time::Duration;

use crate::walls::Wall;
use crate::walls::evidence::Outside;

/// Something that das has looked at; or why it could not.
#[derive(Debug)]
pub(super) enum Looks {
    /// The names of the variables in the image.
    ImageVariables(Result<Vec<String>, String>),
    /// The log drivers of running containers.
    LogDrivers(Result<Vec<String>, String>),
    /// How long a container lived that had to be killed, if the engine remembers.
    Lived(Option<Duration>),
    /// Containers that run after the deadline.
    StillRunning(Result<Vec<String>, String>),
    /// Containers that are left at the end.
    Left(Result<Vec<String>, String>),
    /// Nobody wants to know.
    Nothing,
}

impl Looks {
    pub(super) fn note(self, outside: &mut Outside) {
        match self {
            Self::ImageVariables(names) => outside.image_env = Some(names),
            Self::LogDrivers(drivers) => outside.log_drivers = Some(drivers),
            Self::Lived(time) => outside.lived = time,
            Self::StillRunning(names) => outside.still_running = Some(names),
            Self::Left(names) => outside.left = Some(names),
            Self::Nothing => {}
        }
    }
}

/// Whether das has looked at all that this wall is judged by.
pub(super) fn complete(wall: Wall, outside: &Outside) -> bool {
    match wall {
        Wall::Environment => outside.image_env.is_some(),
        Wall::Output => outside.log_drivers.is_some(),
        Wall::Time => outside.still_running.is_some(),
        Wall::Lifetime => outside.left.is_some(),
        Wall::Network
        | Wall::Filesystem
        | Wall::Scratch
        | Wall::Host
        | Wall::User
        | Wall::Capabilities
        | Wall::NewPrivileges
        | Wall::Syscalls
        | Wall::Memory
        | Wall::Cpu
        | Wall::Pids
        | Wall::Descriptors
        | Wall::CoreDumps
        | Wall::Isolation => true,
    }
}

/// What can be seen before anything runs: the namespaces of das itself, which are this machine's
/// own where das is not in a container.
pub(super) fn outside() -> Outside {
    let names = ["pid", "net", "ipc", "mnt", "uts"];
    let links =
        names.into_iter().filter_map(|name| fs::read_link(format!("/proc/self/ns/{name}")).ok());
    let namespaces = links.map(|link| link.to_string_lossy().into_owned()).collect();
    Outside { namespaces, ..Outside::default() }
}
