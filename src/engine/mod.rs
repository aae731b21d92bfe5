//! The docker-compatible command line that das drives: which one, where, and its short commands.
//!
//! It knows how to ask and how to read the answers. What the answers mean for a run is not its
//! business.

use std::path::{Path, PathBuf};

mod clock;
pub mod command;
pub mod find;
pub mod look;
mod ops;
mod patience;
pub mod record;

pub use ops::{Expected, KillAnswer, ListError, RemoveAnswer};
pub use patience::Patience;

use clock::EngineClock;
use command::{CommandLine, EnvChanges};

/// The variables with which programs are told of a proxy, credentials often included.
const PROXY_VARIABLES: [&str; 5] =
    ["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY"];

/// Which of the docker-compatible programs it is: they differ in a few flags and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// The Docker CLI.
    Docker,
    /// Podman.
    Podman,
    /// The containerd CLI.
    Nerdctl,
}

impl EngineKind {
    /// The name of its program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Nerdctl => "nerdctl",
        }
    }

    /// The kind that a program's file name tells; whatever is unknown is taken for Docker.
    pub fn of(program: &Path) -> Self {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        if name.contains("podman") {
            Self::Podman
        } else if name.contains("nerdctl") {
            Self::Nerdctl
        } else {
            Self::Docker
        }
    }

    /// Whether the engine remembers that the kernel killed a program for its memory.
    pub const fn memory_kills(self) -> MemoryKills {
        match self {
            Self::Podman => MemoryKills::Unrecorded,
            Self::Docker | Self::Nerdctl => MemoryKills::Recorded,
        }
    }

    /// The command that removes containers at once, running or not. Podman would first ask their
    /// programs to end, and wait.
    pub const fn remove_command(self) -> &'static [&'static str] {
        match self {
            Self::Podman => &["rm", "--force", "--time", "0"],
            Self::Docker | Self::Nerdctl => &["rm", "--force"],
        }
    }

    /// The directory in which containers are run, where das's own will not do. Podman's monitor
    /// leaves a file named `oom` in its working directory; in this one nobody can.
    pub fn run_dir(self) -> Option<PathBuf> {
        match self {
            Self::Podman if cfg!(target_os = "linux") => Some(PathBuf::from("/proc")),
            Self::Docker | Self::Podman | Self::Nerdctl => None,
        }
    }

    /// Whether the engine's own filter of system calls refuses `mount`, `unshare`, `keyctl` and
    /// their like to a program without capabilities. Podman's leaves that to the kernel.
    pub const fn filter(self) -> Filter {
        match self {
            Self::Podman => Filter::Loose,
            Self::Docker | Self::Nerdctl => Filter::Tight,
        }
    }

    /// The flag that keeps an engine from mounting memory where nobody asked for it: podman makes
    /// `/run` and `/var/tmp` writable, and lets programs execute there.
    pub const fn no_more_scratch_flag(self) -> Option<&'static str> {
        match self {
            Self::Podman => Some("--read-only-tmpfs=false"),
            Self::Docker | Self::Nerdctl => None,
        }
    }

    /// The flag that keeps the client's own proxy variables out, where there is one.
    pub const fn no_proxy_flag(self) -> Option<&'static str> {
        match self {
            Self::Podman => Some("--http-proxy=false"),
            Self::Docker | Self::Nerdctl => None,
        }
    }
}

/// What an engine's own filter of system calls is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// It refuses what programs never need and attacks often do.
    Tight,
    /// It lets that through to the kernel.
    Loose,
}

/// What an engine remembers of the kernel's OOM killer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKills {
    /// That it struck.
    Recorded,
    /// Nothing: a kill cannot be told from a program that exits with 137.
    Unrecorded,
}

/// What the client would put into every container unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientProxies {
    /// Its configuration names no proxies.
    None,
    /// Its configuration names proxies, or cannot be read.
    Configured,
}

/// What the command line of a run depends on, beside the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Which kind of program it is.
    pub kind: EngineKind,
    /// The program, as it is spawned and shown.
    pub program: String,
    /// What its environment needs to find the engine.
    pub env: EnvChanges,
    /// Whether the client would add proxy variables.
    pub client_proxies: ClientProxies,
    /// The most processes that any of this user's may ever be granted, where the engine has to be
    /// told: it would ask for more by itself, and fail.
    pub most_processes: Option<u64>,
}

impl Facts {
    /// The proxy variables that the client would add, in both cases of letters.
    pub fn proxy_names(&self) -> Vec<String> {
        match self.client_proxies {
            ClientProxies::None => Vec::new(),
            ClientProxies::Configured => PROXY_VARIABLES
                .into_iter()
                .flat_map(|name| [name.to_owned(), name.to_ascii_lowercase()])
                .collect(),
        }
    }
}

/// A docker-compatible program that was found on this machine.
#[derive(Debug, Clone)]
pub struct Engine {
    facts: Facts,
    patience: Patience,
    clock: EngineClock,
}

impl Engine {
    /// An engine of which everything is known.
    pub fn new(facts: Facts) -> Self {
        Self { facts, patience: Patience::default(), clock: EngineClock::default() }
    }

    /// The same engine, waited for in another way.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// How long it is waited for.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// What the command line of a run depends on.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// A command of this engine.
    pub fn command<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> CommandLine {
        CommandLine { env: self.facts.env.clone(), ..CommandLine::new(&self.facts.program, args) }
    }
}
