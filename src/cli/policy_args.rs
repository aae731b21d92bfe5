//! The flags that change the policy: as they were said, and how they are applied.
//!
//! Ranges are the policy's business: nothing is checked twice.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use super::CliError;
use crate::language::canonical_name;
use crate::names::{EnvName, ImageRef, LanguageName, RuntimeName, User};
use crate::policy::{EngineChoice, PolicyError, PullPolicy, SandboxPolicy, SeccompChoice, WorkDir};

/// No policy is longer.
const MOST_POLICY_BYTES: u64 = 1 << 20;

/// Flags that change the policy. Each wins over the policy file.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Policy")]
pub(super) struct PolicyArgs {
    /// Read the policy from this JSON file.
    #[arg(long, value_name = "FILE", env = "DAS_POLICY", value_parser = path_or_nothing())]
    policy: Option<PathBuf>,
    /// How long the program may run, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// Memory in MiB.
    #[arg(long, value_name = "MIB")]
    memory: Option<u64>,
    /// Processors' worth of time.
    #[arg(long, value_name = "N")]
    cpus: Option<f64>,
    /// Processes and threads at once.
    #[arg(long, value_name = "N")]
    pids: Option<u64>,
    /// Size of /tmp in MiB.
    #[arg(long, value_name = "MIB")]
    tmpfs: Option<u64>,
    /// Open file descriptors of each process.
    #[arg(long, value_name = "N")]
    nofile: Option<u64>,
    /// Output kept of each of stdout and stderr, in bytes.
    #[arg(long, value_name = "BYTES")]
    max_output: Option<u64>,
    /// Run in this image.
    #[arg(long, value_name = "REF")]
    image: Option<ImageRef>,
    /// Run as this numeric user and group, never root.
    #[arg(long, value_name = "UID:GID")]
    user: Option<User>,
    /// Give the program this environment variable; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_env)]
    env: Vec<(EnvName, String)>,
    /// Mount this host directory at /work, read-only unless `:rw` is appended.
    #[arg(long, value_name = "DIR[:rw]")]
    work_dir: Option<String>,
    /// Let the program reach the network; warned about on every run.
    #[arg(long)]
    allow_network: bool,
    /// Run under this OCI runtime, such as runsc.
    #[arg(long, value_name = "NAME")]
    runtime: Option<RuntimeName>,
    /// Which system calls are allowed: default, strict, or those of the profile at this path.
    #[arg(long, value_name = "PROFILE")]
    seccomp: Option<String>,
    /// Which engine: auto, docker, podman, nerdctl or a program's path.
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineChoice>,
    /// When to pull the image: never, missing or always.
    #[arg(long, value_name = "WHEN", value_parser = parse_pull)]
    pull: Option<PullPolicy>,
    /// Keep this many containers ready for each language in use (das mcp alone).
    #[arg(long, value_name = "N")]
    warm: Option<u64>,
}

/// Where the policy is, and which engine it is for: all that a command needs which runs nothing.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Policy")]
pub(super) struct PolicyFileArgs {
    /// Read the policy from this JSON file.
    #[arg(long, value_name = "FILE", env = "DAS_POLICY")]
    policy: Option<PathBuf>,
    /// Which engine: auto, docker, podman, nerdctl or a program's path.
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineChoice>,
}

impl PolicyFileArgs {
    /// The effective policy: defaults, then the file, then the engine's flag.
    pub(super) fn resolve(&self) -> Result<SandboxPolicy, CliError> {
        let Self { policy, engine } = self.clone();
        PolicyArgs { policy, engine, ..PolicyArgs::default() }.resolve()
    }
}

impl PolicyArgs {
    /// The effective policy: defaults, then the file, then the flags.
    pub(super) fn resolve(&self) -> Result<SandboxPolicy, CliError> {
        let mut policy = self.file().map_or_else(|| Ok(SandboxPolicy::default()), read_policy)?;
        self.apply(&mut policy)?;
        policy.check().map_err(CliError::Policy)?;
        Ok(policy)
    }

    /// The effective policy for a program in this language, whose image a flag may name.
    pub(super) fn resolve_for(&self, language: &str) -> Result<SandboxPolicy, CliError> {
        let mut policy = self.resolve()?;
        if let Some(image) = &self.image {
            let offered = policy.offered_language(language).map(str::to_owned);
            let name = offered.unwrap_or_else(|| canonical_name(language));
            set_image(&mut policy, &name, image.clone());
        }
        Ok(policy)
    }

    /// The policy file, if one is named.
    pub(super) fn file(&self) -> Option<&Path> {
        self.policy.as_deref().filter(|path| !path.as_os_str().is_empty())
    }

    /// The flags as words of a command line that means the same in any directory; `file` stands
    /// for the policy file, and `absolute` makes the other paths whole.
    pub(super) fn words(
        &self,
        file: Option<&str>,
        absolute: impl Fn(&Path) -> Result<String, CliError>,
    ) -> Result<Vec<String>, CliError> {
        let Self {
            policy: _,
            timeout,
            memory,
            cpus,
            pids,
            tmpfs,
            nofile,
            max_output,
            image,
            user,
            env,
            work_dir,
            allow_network,
            runtime,
            seccomp,
            engine,
            pull,
            warm,
        } = self;
        let work_dir = work_dir.as_deref().map(parse_work_dir).transpose()?;
        let mut words = Vec::new();
        let mut flag = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [format!("--{name}"), value]));
        };
        flag("policy", file.map(str::to_owned));
        flag("timeout", said(timeout.as_ref()));
        flag("memory", said(memory.as_ref()));
        flag("cpus", said(cpus.as_ref()));
        flag("pids", said(pids.as_ref()));
        flag("tmpfs", said(tmpfs.as_ref()));
        flag("nofile", said(nofile.as_ref()));
        flag("max-output", said(max_output.as_ref()));
        flag("image", said(image.as_ref()));
        flag("user", said(user.as_ref()));
        for (name, value) in env {
            flag("env", Some(format!("{name}={value}")));
        }
        if let Some(WorkDir { path, writable }) = work_dir {
            let mode = if writable { "rw" } else { "ro" };
            flag("work-dir", Some(format!("{}:{mode}", absolute(&path)?)));
        }
        flag("runtime", said(runtime.as_ref()));
        flag("seccomp", seccomp.as_deref().map(|said| whole_profile(said, &absolute)).transpose()?);
        flag("engine", said(engine.as_ref()));
        flag("pull", pull.map(|pull| pull_name(pull).to_owned()));
        flag("warm", warm.map(|warm| warm.to_string()));
        words.extend(allow_network.then(|| "--allow-network".to_owned()));
        Ok(words)
    }

    fn apply(&self, policy: &mut SandboxPolicy) -> Result<(), CliError> {
        let Self {
            policy: _,
            // Whose image it is depends on the language.
            image: _,
            timeout,
            memory,
            cpus,
            pids,
            tmpfs,
            nofile,
            max_output,
            user,
            env,
            work_dir,
            allow_network,
            runtime,
            seccomp,
            engine,
            pull,
            warm,
        } = self.clone();
        set(&mut policy.timeout_seconds, timeout);
        set(&mut policy.memory_mb, memory);
        set(&mut policy.cpus, cpus);
        set(&mut policy.pids_limit, pids);
        set(&mut policy.tmpfs_mb, tmpfs);
        set(&mut policy.nofile_limit, nofile);
        set(&mut policy.max_output_bytes, max_output);
        set(&mut policy.user, user);
        set(&mut policy.engine, engine);
        set(&mut policy.pull, pull);
        set(&mut policy.warm, warm);
        policy.env.extend(env);
        policy.network |= allow_network;
        policy.runtime = runtime.or(policy.runtime.take());
        if let Some(said) = work_dir {
            policy.work_dir = Some(parse_work_dir(&said)?);
        }
        if let Some(said) = seccomp {
            policy.seccomp = parse_profile(&said)?;
        }
        Ok(())
    }
}

fn said(value: Option<&impl ToString>) -> Option<String> {
    value.map(ToString::to_string)
}

fn set<T>(value: &mut T, said: Option<T>) {
    if let Some(said) = said {
        *value = said;
    }
}

/// Changes the image of a language that the policy knows; others stay unknown.
fn set_image(policy: &mut SandboxPolicy, language: &str, image: ImageRef) {
    let Ok(name) = language.parse::<LanguageName>() else { return };
    if let Some(row) = policy.languages.get_mut(&name) {
        row.image = image;
    } else if crate::language::Language::named(language).is_some() {
        policy.images.insert(name, image);
    }
}

fn read_policy(path: &Path) -> Result<SandboxPolicy, CliError> {
    let read = |source| CliError::Read { path: path.to_owned(), source };
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MOST_POLICY_BYTES + 1).read_to_string(&mut text))
        .map_err(read)?;
    if text.len() as u64 > MOST_POLICY_BYTES {
        return Err(read(io::Error::other("longer than 1 MiB")));
    }
    SandboxPolicy::from_json(&text)
        .map_err(|source| CliError::PolicyFile { path: path.to_owned(), source })
}

/// A relative directory is one of the working directory, as everywhere on a command line.
fn parse_work_dir(said: &str) -> Result<WorkDir, CliError> {
    let (path, writable) = match said.strip_suffix(":rw") {
        Some(path) => (path, true),
        None => (said.strip_suffix(":ro").unwrap_or(said), false),
    };
    let path = std::path::absolute(path)
        .map_err(|source| CliError::Read { path: PathBuf::from(said), source })?;
    Ok(WorkDir { path, writable })
}

/// A path. MCP hosts set variables that nobody filled in to the empty text, which clap's own
/// parser of paths refuses; it is the same as none.
pub(super) fn path_or_nothing() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// A relative path is one of the working directory.
fn parse_profile(said: &str) -> Result<SeccompChoice, CliError> {
    let whole = |path: &Path| {
        let path = std::path::absolute(path);
        let path = path.map_err(|source| CliError::Read { path: PathBuf::from(said), source })?;
        path.into_os_string().into_string().map_err(|path| CliError::NotText { path: path.into() })
    };
    whole_profile(said, whole)?.parse().map_err(CliError::Policy)
}

/// The names of profiles stay as they are; paths become whole.
fn whole_profile(
    said: &str,
    absolute: impl Fn(&Path) -> Result<String, CliError>,
) -> Result<String, CliError> {
    match said {
        "" | "default" | "strict" => Ok(said.to_owned()),
        path => absolute(Path::new(path)),
    }
}

fn parse_env(said: &str) -> Result<(EnvName, String), String> {
    let (name, value) = said.split_once('=').ok_or("expected NAME=VALUE")?;
    let name = name.parse::<EnvName>().map_err(|error| error.to_string())?;
    Ok((name, value.to_owned()))
}

fn pull_name(pull: PullPolicy) -> &'static str {
    match pull {
        PullPolicy::Never => "never",
        PullPolicy::Missing => "missing",
        PullPolicy::Always => "always",
    }
}

fn parse_pull(said: &str) -> Result<PullPolicy, PolicyError> {
    match said {
        "never" => Ok(PullPolicy::Never),
        "missing" => Ok(PullPolicy::Missing),
        "always" => Ok(PullPolicy::Always),
        _ => Err(PolicyError::Value {
            key: "pull".to_owned(),
            expected: "one of never, missing, always".to_owned(),
            value: format!("{said:?}"),
        }),
    }
}
