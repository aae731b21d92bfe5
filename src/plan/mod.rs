//! What one run was granted: policy, language and image, all checked.
//!
//! Only [`CheckedPolicy::plan`] makes a [`Plan`], and only [`argv`] takes one apart.

use std::collections::BTreeMap;
use std::env;
use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::language::Language;
use crate::names::{EnvName, ImageRef, LanguageName, RuntimeName, User};
use crate::outcome::hints::Limits;
use crate::policy::{PolicyError, SandboxPolicy, SeccompChoice};
use crate::seccomp::{Profile, SeccompError};
use crate::walls::REFUSED_CALLS;
use crate::walls::evidence::{NetworkPromise, Promised};
use crate::work_dir::{self, Access, Mount, WorkDirError};

pub mod argv;

/// A policy in which every value has been checked and the work directory judged.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPolicy {
    policy: SandboxPolicy,
    mount: Option<Mount>,
    seccomp: Option<Profile>,
}

/// Why a policy does not hold on this machine.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A value is wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The work directory is not granted.
    #[error(transparent)]
    WorkDir(#[from] WorkDirError),
    /// There is no such filter of system calls.
    #[error(transparent)]
    Seccomp(#[from] SeccompError),
}

impl CheckedPolicy {
    /// Checks every value, and looks at the work directory where the policy names one.
    pub fn new(policy: SandboxPolicy) -> Result<Self, Refusal> {
        policy.check()?;
        let homes: Vec<PathBuf> = env::home_dir().into_iter().collect();
        let judge = |dir| Mount::judge(dir, policy.user, &homes);
        let mount = policy.work_dir.as_ref().map(judge).transpose()?;
        let seccomp = Profile::of(&policy.seccomp)?;
        Ok(Self { policy, mount, seccomp })
    }

    /// The same for an engine whose own filter lets through what every other refuses: there das's
    /// filter takes its place, unless the policy names one.
    pub fn with_tight_filter(mut self) -> Result<Self, Refusal> {
        if self.policy.seccomp == SeccompChoice::Default {
            self.policy.seccomp = SeccompChoice::Strict;
            self.seccomp = Profile::of(&self.policy.seccomp)?;
        }
        Ok(self)
    }

    /// The system calls that are refused elsewhere, and that the policy's own profile allows.
    pub fn allowed_calls(&self) -> Vec<&'static str> {
        allowed_calls(self.seccomp.as_ref())
    }

    /// The policy, as it is in force.
    pub fn policy(&self) -> &SandboxPolicy {
        &self.policy
    }

    /// What the owner of the policy should hear on every run.
    pub fn warnings(&self) -> Vec<String> {
        let network = self.policy.network.then(|| {
            "network access is on: programs can reach the internet and this machine's network"
                .to_owned()
        });
        let mount = self.mount.iter().flat_map(|mount| mount.warnings().iter().cloned());
        let loose = self.seccomp.as_ref().and_then(Profile::warning);
        network.into_iter().chain(mount).chain(loose).collect()
    }

    /// What a program in this language is granted. Aliases such as `js` are understood.
    pub fn plan(&self, language: &str) -> Result<Plan, PolicyError> {
        let policy = &self.policy;
        let row = self.row(language)?;
        Ok(Plan {
            timeout: Duration::from_secs_f64(policy.timeout_seconds),
            memory_mb: policy.memory_mb,
            cpus: policy.cpus,
            pids_limit: policy.pids_limit,
            tmpfs_mb: policy.tmpfs_mb,
            nofile_limit: policy.nofile_limit,
            network: if policy.network { Network::Bridge } else { Network::None },
            user: policy.user,
            runtime: policy.runtime.clone(),
            seccomp: self.profile()?,
            mount: self.mount.clone(),
            // The owner's variables come last, so that they win.
            env: row.env.into_iter().chain(policy.env.clone()).collect(),
            language: row.name,
            image: row.image,
            command: row.command,
        })
    }

    /// Looked at again for each run: a process may outlive the file.
    fn profile(&self) -> Result<Option<Profile>, PolicyError> {
        Profile::of(&self.policy.seccomp).map_err(|error| {
            let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
            let message = format!("{error}{cause}");
            PolicyError::Grammar { path: "seccomp".to_owned(), message }
        })
    }

    /// The policy's own rows win over the built-in ones.
    fn row(&self, language: &str) -> Result<Row, PolicyError> {
        let unknown = || PolicyError::Language {
            name: language.to_owned(),
            offered: self.policy.offered_languages().join(", "),
        };
        let name = self.policy.offered_language(language).ok_or_else(unknown)?;
        let name: LanguageName = name.parse().map_err(|_| unknown())?;
        if let Some(row) = self.policy.languages.get(&name) {
            let (image, command, env) = (row.image.clone(), row.command.clone(), row.env.clone());
            return Ok(Row { name, image, command, env });
        }
        let builtin = Language::named(name.as_str()).ok_or_else(unknown)?;
        let image = self.policy.images.get(&name).ok_or_else(unknown)?.clone();
        let command = builtin.command.iter().map(|&word| word.to_owned()).collect();
        Ok(Row { name, image, command, env: builtin_env(builtin) })
    }
}

/// A language with its image, wherever its row came from.
struct Row {
    name: LanguageName,
    image: ImageRef,
    command: Vec<String>,
    env: BTreeMap<EnvName, String>,
}

fn builtin_env(language: &Language) -> BTreeMap<EnvName, String> {
    let checked = |name: &str| name.parse().expect("built-in variables have valid names");
    language.env.iter().map(|&(name, value)| (checked(name), value.to_owned())).collect()
}

/// What one run was granted.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    language: LanguageName,
    image: ImageRef,
    command: Vec<String>,
    env: BTreeMap<EnvName, String>,
    timeout: Duration,
    memory_mb: u64,
    cpus: f64,
    pids_limit: u64,
    tmpfs_mb: u64,
    nofile_limit: u64,
    network: Network,
    user: User,
    runtime: Option<RuntimeName>,
    seccomp: Option<Profile>,
    mount: Option<Mount>,
}

/// What of the network programs can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Nothing but a loopback of their own.
    None,
    /// The engine's bridge, and through it everything.
    Bridge,
}

impl Plan {
    /// The language.
    pub fn language(&self) -> &LanguageName {
        &self.language
    }

    /// The image.
    pub fn image(&self) -> &ImageRef {
        &self.image
    }

    /// The OCI runtime that the policy demands.
    pub fn runtime(&self) -> Option<&str> {
        self.runtime.as_ref().map(RuntimeName::as_str)
    }

    /// The program that the container executes.
    pub fn interpreter(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Whether it runs with the other's command line: the deadline alone has no flag.
    pub fn has_same_command_line(&self, other: &Self) -> bool {
        Self { timeout: other.timeout, ..self.clone() } == *other
    }

    /// The limits that a hint may name.
    pub fn limits(&self) -> Limits {
        Limits {
            timeout_seconds: self.timeout.as_secs_f64(),
            memory_mb: self.memory_mb,
            pids_limit: self.pids_limit,
            tmpfs_mb: self.tmpfs_mb,
            nofile_limit: self.nofile_limit,
            network: self.network == Network::Bridge,
        }
    }

    /// What the grants promise of each wall. The output's limit is the runner's, not the plan's.
    pub fn promised(&self, output_bytes: u64) -> Promised {
        let Self {
            // What runs, not what keeps it in.
            language: _,
            image: _,
            command: _,
            timeout,
            env,
            memory_mb,
            cpus,
            pids_limit,
            tmpfs_mb,
            nofile_limit,
            network,
            user,
            runtime,
            seccomp,
            mount,
        } = self;
        Promised {
            network: match network {
                Network::None => NetworkPromise::Shut,
                Network::Bridge => NetworkPromise::Open,
            },
            user: *user,
            memory_mb: *memory_mb,
            cpus: *cpus,
            pids: *pids_limit,
            tmpfs_mb: *tmpfs_mb,
            nofile: *nofile_limit,
            deadline: *timeout,
            output_bytes,
            env: env.keys().map(ToString::to_string).collect(),
            mount: mount.as_ref().map(granted),
            runtime: runtime.as_ref().map(ToString::to_string),
            allowed_calls: allowed_calls(seccomp.as_ref()),
        }
    }

    /// The same grants in another image: for an image that das built in place of a default one.
    pub(crate) fn with_image(self, image: ImageRef) -> Self {
        Self { image, ..self }
    }

    /// How long the program may run.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The same grants with a shorter timeout; a longer one changes nothing.
    #[must_use]
    pub fn with_timeout_at_most(self, timeout: Duration) -> Self {
        Self { timeout: self.timeout.min(timeout), ..self }
    }
}

fn allowed_calls(profile: Option<&Profile>) -> Vec<&'static str> {
    let allows = |call: &&str| profile.is_some_and(|profile| profile.allows(call));
    REFUSED_CALLS.into_iter().filter(allows).collect()
}

/// A mount as a person is told of it.
fn granted(mount: &Mount) -> String {
    let access = match mount.access() {
        Access::ReadOnly => "read-only",
        Access::Writable => "writable",
    };
    format!("{} at {}, {access}", mount.source(), work_dir::TARGET)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(json: &str, language: &str) -> Result<Plan, PolicyError> {
        let policy = SandboxPolicy::from_json(json).unwrap();
        CheckedPolicy::new(policy).unwrap().plan(language)
    }

    #[test]
    fn an_alias_gets_the_language_it_stands_for() {
        assert_eq!(plan("{}", "JS").unwrap().language().as_str(), "node");
    }

    #[test]
    fn a_language_without_an_image_is_not_offered() {
        let error = plan(r#"{"images": {"python": "p"}}"#, "node").unwrap_err();
        assert_eq!(error.to_string(), "the policy offers no language `node`, only python");
    }

    #[test]
    fn a_row_of_the_policy_adds_a_language_or_changes_a_known_one() {
        let json = r#"{"languages": {
            "ruby": {"image": "ruby:3.3", "command": ["ruby", "-"], "env": {"A": "row", "B": "row"}},
            "python": {"image": "mine", "command": ["python3", "-"]}},
            "env": {"A": "owner"}}"#;
        let ruby = plan(json, "ruby").unwrap();
        assert_eq!((ruby.image().as_str(), ruby.command.len()), ("ruby:3.3", 2));
        let env: Vec<_> = ruby.env.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(env, ["A=owner", "B=row"]);
        assert_eq!(plan(json, "py").unwrap().command, ["python3", "-"]);
    }

    #[test]
    fn a_language_that_the_policy_adds_is_not_hidden_by_an_alias_of_the_same_name() {
        let json = r#"{"languages": {"bash": {"image": "bash:5", "command": ["bash"]}}}"#;
        assert_eq!(plan(json, "bash").unwrap().image().as_str(), "bash:5");
        assert_eq!(plan(json, "sh").unwrap().language().as_str(), "shell");
    }

    #[test]
    fn a_timeout_can_be_shortened_and_never_lengthened() {
        let plan = plan("{}", "python").unwrap();
        let second = Duration::from_secs(1);
        assert_eq!(plan.clone().with_timeout_at_most(second).timeout(), second);
        assert_eq!(plan.clone().with_timeout_at_most(second * 100).timeout(), plan.timeout());
    }

    #[test]
    fn the_network_is_warned_about() {
        let policy = SandboxPolicy { network: true, ..SandboxPolicy::default() };
        assert_eq!(CheckedPolicy::new(policy).unwrap().warnings().len(), 1);
        assert_eq!(CheckedPolicy::new(SandboxPolicy::default()).unwrap().warnings().len(), 0);
    }
}
