//! The policy: every limit that a sandbox has, with its default and its range.
//!
//! A [`SandboxPolicy`] is what somebody said; [`crate::plan::CheckedPolicy`] is what holds.
//! This module does no I/O and knows no engine.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::language::Language;
use crate::names::{EnvName, ImageRef, LanguageName, RuntimeName, User};

mod check;
pub mod fields;
mod load;
mod schema;
#[cfg(test)]
mod tests;

pub use check::PolicyError;
pub use schema::json_schema;

/// Every limit of a sandbox. The default is strict enough for code that nobody has read.
///
/// Ranges are those of [`fields::FIELDS`]; they are checked before anything runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxPolicy {
    /// How long a program may run, in seconds: 0.1 to 3600.
    pub timeout_seconds: f64,
    /// Memory in MiB, swap included: 16 to 1048576.
    pub memory_mb: u64,
    /// Processors' worth of time: 0.05 to 512.
    pub cpus: f64,
    /// Processes and threads at once: 8 to 32768.
    pub pids_limit: u64,
    /// Size of `/tmp` in MiB, counted in memory: 1 to 65536.
    pub tmpfs_mb: u64,
    /// Open file descriptors of each process: 32 to 1048576.
    pub nofile_limit: u64,
    /// Output kept of each of stdout and stderr, in bytes: 1024 to 16777216.
    pub max_output_bytes: u64,
    /// Size of a program, in bytes: 1 to 67108864.
    pub max_code_bytes: u64,
    /// Whether programs reach the network.
    pub network: bool,
    /// The user and group that programs run as.
    pub user: User,
    /// The image of each built-in language; one without an image is not offered.
    pub images: BTreeMap<LanguageName, ImageRef>,
    /// More languages, or other commands for the built-in ones.
    pub languages: BTreeMap<LanguageName, LanguageRow>,
    /// Environment variables that programs see. Values are the policy owner's to give.
    pub env: BTreeMap<EnvName, String>,
    /// The OCI runtime that must run the container; the engine's default if none.
    pub runtime: Option<RuntimeName>,
    /// The filter of system calls.
    pub seccomp: SeccompChoice,
    /// Which docker-compatible program runs containers.
    pub engine: EngineChoice,
    /// One host directory that programs see at `/work`.
    pub work_dir: Option<WorkDir>,
    /// When to pull images.
    pub pull: PullPolicy,
    /// Parked single-use containers for each language in use: 0 to 32 (`das mcp` alone).
    pub warm: u64,
    /// How long a parked container may wait unused, in seconds: 1 to 86400 (`das mcp` alone).
    pub warm_idle_seconds: u64,
    /// Runs at once: 1 to 256 (`das mcp` alone).
    pub max_concurrent: u64,
}

impl Default for SandboxPolicy {
    fn default() -> Self {
        Self {
            timeout_seconds: 10.0,
            memory_mb: 256,
            cpus: 0.5,
            pids_limit: 64,
            tmpfs_mb: 32,
            nofile_limit: 256,
            max_output_bytes: 65_536,
            max_code_bytes: 1_048_576,
            network: false,
            user: User::NOBODY,
            images: default_images(),
            languages: BTreeMap::new(),
            env: BTreeMap::new(),
            runtime: None,
            seccomp: SeccompChoice::Default,
            engine: EngineChoice::Auto,
            work_dir: None,
            pull: PullPolicy::Missing,
            warm: 1,
            warm_idle_seconds: 300,
            max_concurrent: 4,
        }
    }
}

fn default_images() -> BTreeMap<LanguageName, ImageRef> {
    Language::default_images()
        .into_iter()
        .map(|(name, image)| {
            let name = name.parse().expect("built-in languages have valid names");
            (name, image.parse().expect("built-in images are valid references"))
        })
        .collect()
}

/// A language that the policy adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageRow {
    /// The image it runs in.
    pub image: ImageRef,
    /// The command that reads a program from standard input and runs it.
    pub command: Vec<String>,
    /// Endings of its files' names, without the dot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Variables that its interpreter needs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<EnvName, String>,
}

/// A directory of the host that programs see at `/work`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkDir {
    /// Where it is on the host.
    pub path: PathBuf,
    /// Whether programs may change what is in it.
    #[serde(default)]
    pub writable: bool,
}

/// When images are pulled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullPolicy {
    /// Never: a missing image is an error.
    Never,
    /// When the engine does not have the image.
    Missing,
    /// Before every run of `das run`, and once for each image in a long-lived process.
    Always,
}

/// Which system calls programs may make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SeccompChoice {
    /// Those that the engine allows by default.
    Default,
    /// Those that Python, Node.js and shells need: das's own, shorter list.
    Strict,
    /// Those that the profile at this absolute path allows.
    Path(PathBuf),
}

impl FromStr for SeccompChoice {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        match text {
            "default" => Ok(Self::Default),
            "strict" => Ok(Self::Strict),
            path if path.starts_with('/') && !path.chars().any(char::is_control) => {
                Ok(Self::Path(path.into()))
            }
            _ => Err(PolicyError::Seccomp { value: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for SeccompChoice {
    type Error = PolicyError;

    fn try_from(text: String) -> Result<Self, PolicyError> {
        text.parse()
    }
}

impl From<SeccompChoice> for String {
    fn from(choice: SeccompChoice) -> Self {
        choice.to_string()
    }
}

impl fmt::Display for SeccompChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Strict => f.write_str("strict"),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

/// Which docker-compatible program runs containers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EngineChoice {
    /// The first of docker, podman and nerdctl that is there.
    Auto,
    /// The Docker CLI.
    Docker,
    /// Podman.
    Podman,
    /// The containerd CLI.
    Nerdctl,
    /// A program at this absolute path; its file's name tells which of the three it resembles.
    Path(PathBuf),
}

impl FromStr for EngineChoice {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        match text {
            "auto" => Ok(Self::Auto),
            "docker" => Ok(Self::Docker),
            "podman" => Ok(Self::Podman),
            "nerdctl" => Ok(Self::Nerdctl),
            path if path.starts_with('/') && !path.contains('\0') => Ok(Self::Path(path.into())),
            _ => Err(PolicyError::Engine { value: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for EngineChoice {
    type Error = PolicyError;

    fn try_from(text: String) -> Result<Self, PolicyError> {
        text.parse()
    }
}

impl From<EngineChoice> for String {
    fn from(choice: EngineChoice) -> Self {
        choice.to_string()
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Docker => f.write_str("docker"),
            Self::Podman => f.write_str("podman"),
            Self::Nerdctl => f.write_str("nerdctl"),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}
