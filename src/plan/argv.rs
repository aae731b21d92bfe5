//! The command line of one run, as a value: what `explain` prints is what the runner spawns.
//!
//! Pure: the same engine facts, plan and tag always give the same [`Argv`].

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use super::{Network, Plan};
use crate::engine::Facts;
use crate::engine::command::{CommandLine, EnvChanges};
use crate::tag::{EXPIRES_LABEL, LABEL, OWNER_LABEL, RunTag};
use crate::walls::Wall;
use crate::work_dir::{self, Access};

/// A command line: `run`, the flags, then the image and the program's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv {
    program: String,
    env: EnvChanges,
    dir: Option<PathBuf>,
    lines: Vec<Line>,
    command: Vec<String>,
}

/// A flag with its value, and the wall that it belongs to: a flag without one does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The wall.
    pub wall: Wall,
    /// The flag and its value.
    pub words: Vec<String>,
}

impl Argv {
    /// The command line that runs `plan` on an engine under a tag.
    pub fn new(facts: &Facts, plan: &Plan, tag: &RunTag) -> Self {
        let mut lines = Lines::default();
        attach(&mut lines, tag);
        walls(&mut lines, facts, plan);
        identify(&mut lines, tag);
        let image = std::iter::once(plan.image.as_str());
        let command = image.chain(plan.command.iter().map(String::as_str));
        // A variable that is named without a value would be copied from the client's environment.
        let mut env = facts.env.clone();
        env.unset.extend(facts.proxy_names().into_iter().map(Into::into));
        Self {
            program: facts.program.clone(),
            env,
            dir: facts.kind.run_dir(),
            lines: lines.0,
            command: command.map(str::to_owned).collect(),
        }
    }

    /// The flags, each with its wall, in the order in which they stand.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The whole command line, the program's name first.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let flags = self.lines.iter().flat_map(|line| &line.words);
        let words = flags.chain(&self.command).map(String::as_str);
        [self.program.as_str(), SUBCOMMAND].into_iter().chain(words)
    }

    /// What to spawn.
    pub fn command_line(&self) -> CommandLine {
        CommandLine {
            env: self.env.clone(),
            dir: self.dir.clone(),
            ..CommandLine::new(&self.program, self.words().skip(1))
        }
    }
}

/// What the engine is told to do.
const SUBCOMMAND: &str = "run";

/// How the client behaves: removed with its end, code on stdin, never a pull inside the deadline.
fn attach(lines: &mut Lines, tag: &RunTag) {
    lines.add(Wall::Lifetime, ["--rm"]);
    lines.add(Wall::Host, ["-i"]);
    lines.add(Wall::Time, ["--name", tag.container().as_str()]);
    lines.add(Wall::Time, ["--pull", "never"]);
}

/// Every grant of the plan becomes a flag. The plan is taken apart field by field, so that a new
/// field which reaches no flag does not compile.
fn walls(lines: &mut Lines, facts: &Facts, plan: &Plan) {
    let Plan {
        language: _,
        image: _,
        command: _,
        // The runner holds the deadline: no flag of the engine does.
        timeout: _,
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
    } = plan;
    if let Some(runtime) = runtime {
        lines.add(Wall::Syscalls, ["--runtime", runtime.as_str()]);
    }
    lines.add(Wall::Network, ["--network", network_mode(*network)]);
    lines.add(Wall::Filesystem, ["--read-only"]);
    if let Some(flag) = facts.kind.no_more_scratch_flag() {
        lines.add(Wall::Scratch, [flag]);
    }
    lines.add(
        Wall::Scratch,
        ["--tmpfs", &format!("/tmp:rw,noexec,nosuid,nodev,mode=1777,size={tmpfs_mb}m")],
    );
    // Equal to the memory: no swap on top of it.
    lines.add(Wall::Memory, ["--memory", &format!("{memory_mb}m")]);
    lines.add(Wall::Memory, ["--memory-swap", &format!("{memory_mb}m")]);
    lines.add(Wall::Cpu, ["--cpus", &cpus.to_string()]);
    lines.add(Wall::Pids, ["--pids-limit", &pids_limit.to_string()]);
    lines.add(Wall::Descriptors, ["--ulimit", &format!("nofile={nofile_limit}:{nofile_limit}")]);
    lines.add(Wall::CoreDumps, ["--ulimit", "core=0:0"]);
    if let Some(most) = facts.most_processes {
        lines.add(Wall::Pids, ["--ulimit", &format!("nproc={most}:{most}")]);
    }
    lines.add(Wall::Capabilities, ["--cap-drop", "ALL"]);
    lines.add(Wall::NewPrivileges, ["--security-opt", "no-new-privileges"]);
    if let Some(profile) = seccomp {
        lines.add(Wall::Syscalls, ["--security-opt", &format!("seccomp={}", profile.path())]);
    }
    lines.add(Wall::User, ["--user", &user.to_string()]);
    if let Some(mount) = mount {
        let access = match mount.access() {
            Access::ReadOnly => ",readonly",
            Access::Writable => "",
        };
        let (source, target) = (mount.source(), work_dir::TARGET);
        lines.add(
            Wall::Host,
            ["--mount", &format!("type=bind,source={source},target={target}{access}")],
        );
    }
    lines
        .add(Wall::Scratch, ["--workdir", if mount.is_some() { work_dir::TARGET } else { "/tmp" }]);
    lines.add(Wall::Environment, ["--env", "HOME=/tmp"]);
    for (name, value) in env {
        lines.add(Wall::Environment, ["--env", &format!("{name}={value}")]);
    }
    // Without a value: what the client's configuration would add is taken out again.
    for name in facts.proxy_names() {
        if !env.keys().any(|given| given.as_str() == name) {
            lines.add(Wall::Environment, ["--env", &name]);
        }
    }
    if let Some(flag) = facts.kind.no_proxy_flag() {
        lines.add(Wall::Environment, [flag]);
    }
    lines.add(Wall::Output, ["--log-driver", "none"]);
    // An image's own health check would run beside the program, and its entrypoint instead of it.
    lines.add(Wall::Isolation, ["--no-healthcheck"]);
    lines.add(Wall::Isolation, ["--entrypoint", ""]);
}

/// Labels say whose container it is and until when it may live.
fn identify(lines: &mut Lines, tag: &RunTag) {
    lines.add(Wall::Lifetime, ["--label", &format!("{LABEL}=1")]);
    lines.add(Wall::Lifetime, ["--label", &format!("{OWNER_LABEL}={}", tag.owner())]);
    lines.add(Wall::Lifetime, ["--label", &format!("{EXPIRES_LABEL}={}", tag.expires())]);
}

const fn network_mode(network: Network) -> &'static str {
    match network {
        Network::None => "none",
        Network::Bridge => "bridge",
    }
}

#[derive(Default)]
struct Lines(Vec<Line>);

impl Lines {
    fn add<'a>(&mut self, wall: Wall, words: impl IntoIterator<Item = &'a str>) {
        self.0.push(Line { wall, words: words.into_iter().map(str::to_owned).collect() });
    }
}

/// A shell command, one flag a line, that does the same when it is pasted.
impl fmt::Display for Argv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.beginning().join(" "))?;
        for line in &self.lines {
            write!(f, " \\\n  {}", shell(&line.words))?;
        }
        write!(f, " \\\n  {}", self.end())
    }
}

impl Argv {
    /// The words of the shell command up to `run`: the client's environment and its program.
    pub(crate) fn beginning(&self) -> Vec<String> {
        let EnvChanges { set, unset } = &self.env;
        let mut words = Vec::new();
        if !unset.is_empty() {
            words.push("env".to_owned());
        }
        for name in unset {
            words.extend(["-u".to_owned(), quote(&name.to_string_lossy())]);
        }
        for (name, value) in set {
            let value = quote(&value.to_string_lossy());
            words.push(format!("{}={value}", name.to_string_lossy()));
        }
        words.extend([quote(&self.program), SUBCOMMAND.to_owned()]);
        words
    }

    /// The last line of the shell command: the image and what runs in it.
    pub(crate) fn end(&self) -> String {
        shell(&self.command)
    }
}

/// Words as a POSIX shell reads them.
pub(crate) fn shell(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a POSIX shell, where it needs it. No word holds a NUL, the one thing that a
/// shell cannot quote.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if word.is_empty() {
        "\"\"".to_owned()
    } else if word.chars().all(plain) {
        word.to_owned()
    } else {
        shlex::try_quote(word).map_or_else(|_| word.replace('\0', ""), Cow::into_owned)
    }
}
