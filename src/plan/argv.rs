//! The command line of one run, as a value: what `explain` prints is what the runner spawns.
//!
//! Pure: the same engine facts, plan and tag always give the same [`Argv`].

use std::borrow::Cow;
use std::fmt;

use super::{Network, Plan};
use crate::engine::Facts;
use crate::engine::command::{CommandLine, EnvChanges};
use crate::tag::{EXPIRES_LABEL, LABEL, OWNER_LABEL, RunTag};
use crate::work_dir::{self, Access};

/// A command line: the lines that a reader sees, each a flag with its value, then the image and
/// the program's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv {
    program: String,
    env: EnvChanges,
    lines: Vec<Vec<String>>,
}

impl Argv {
    /// The command line that runs `plan` on an engine under a tag.
    pub fn new(facts: &Facts, plan: &Plan, tag: &RunTag) -> Self {
        let mut lines = Lines::default();
        lines.add(["run"]);
        attach(&mut lines, tag);
        walls(&mut lines, facts, plan);
        identify(&mut lines, tag);
        lines.add(
            std::iter::once(plan.image.as_str()).chain(plan.command.iter().map(String::as_str)),
        );
        // A variable that is named without a value would be copied from the client's environment.
        let mut env = facts.env.clone();
        env.unset.extend(facts.proxy_names().into_iter().map(Into::into));
        Self { program: facts.program.clone(), env, lines: lines.0 }
    }

    /// The whole command line, the program's name first.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program.as_str())
            .chain(self.lines.iter().flatten().map(String::as_str))
    }

    /// What to spawn.
    pub fn command_line(&self) -> CommandLine {
        CommandLine {
            env: self.env.clone(),
            ..CommandLine::new(&self.program, self.words().skip(1))
        }
    }
}

/// How the client behaves: removed with its end, code on stdin, never a pull inside the deadline.
fn attach(lines: &mut Lines, tag: &RunTag) {
    lines.add(["--rm"]);
    lines.add(["-i"]);
    lines.add(["--name", tag.container().as_str()]);
    lines.add(["--pull", "never"]);
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
        mount,
    } = plan;
    if let Some(runtime) = runtime {
        lines.add(["--runtime", runtime.as_str()]);
    }
    lines.add(["--network", network_mode(*network)]);
    lines.add(["--read-only"]);
    lines.add(["--tmpfs", &format!("/tmp:rw,noexec,nosuid,nodev,mode=1777,size={tmpfs_mb}m")]);
    // Equal to the memory: no swap on top of it.
    lines.add(["--memory", &format!("{memory_mb}m")]);
    lines.add(["--memory-swap", &format!("{memory_mb}m")]);
    lines.add(["--cpus", &cpus.to_string()]);
    lines.add(["--pids-limit", &pids_limit.to_string()]);
    lines.add(["--ulimit", &format!("nofile={nofile_limit}:{nofile_limit}")]);
    lines.add(["--ulimit", "core=0:0"]);
    if let Some(most) = facts.most_processes {
        lines.add(["--ulimit", &format!("nproc={most}:{most}")]);
    }
    lines.add(["--cap-drop", "ALL"]);
    lines.add(["--security-opt", "no-new-privileges"]);
    lines.add(["--user", &user.to_string()]);
    if let Some(mount) = mount {
        let access = match mount.access() {
            Access::ReadOnly => ",readonly",
            Access::Writable => "",
        };
        let (source, target) = (mount.source(), work_dir::TARGET);
        lines.add(["--mount", &format!("type=bind,source={source},target={target}{access}")]);
    }
    lines.add(["--workdir", if mount.is_some() { work_dir::TARGET } else { "/tmp" }]);
    lines.add(["--env", "HOME=/tmp"]);
    for (name, value) in env {
        lines.add(["--env", &format!("{name}={value}")]);
    }
    // Without a value: what the client's configuration would add is taken out again.
    for name in facts.proxy_names() {
        if !env.keys().any(|given| given.as_str() == name) {
            lines.add(["--env", &name]);
        }
    }
    if let Some(flag) = facts.kind.no_proxy_flag() {
        lines.add([flag]);
    }
    lines.add(["--log-driver", "none"]);
    // An image's own health check would run beside the program, and its entrypoint instead of it.
    lines.add(["--no-healthcheck"]);
    lines.add(["--entrypoint", ""]);
}

/// Labels say whose container it is and until when it may live.
fn identify(lines: &mut Lines, tag: &RunTag) {
    lines.add(["--label", &format!("{LABEL}=1")]);
    lines.add(["--label", &format!("{OWNER_LABEL}={}", tag.owner())]);
    lines.add(["--label", &format!("{EXPIRES_LABEL}={}", tag.expires())]);
}

const fn network_mode(network: Network) -> &'static str {
    match network {
        Network::None => "none",
        Network::Bridge => "bridge",
    }
}

#[derive(Default)]
struct Lines(Vec<Vec<String>>);

impl Lines {
    fn add<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.0.push(words.into_iter().map(str::to_owned).collect());
    }
}

/// A shell command, one flag a line, that does the same when it is pasted.
impl fmt::Display for Argv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.env.unset.is_empty() {
            f.write_str("env ")?;
        }
        for name in &self.env.unset {
            write!(f, "-u {} ", quote(&name.to_string_lossy()))?;
        }
        for (name, value) in &self.env.set {
            write!(f, "{}={} ", name.to_string_lossy(), quote(&value.to_string_lossy()))?;
        }
        f.write_str(&quote(&self.program))?;
        for (index, line) in self.lines.iter().enumerate() {
            f.write_str(if index == 0 { " " } else { " \\\n  " })?;
            let words: Vec<String> = line.iter().map(|word| quote(word)).collect();
            f.write_str(&words.join(" "))?;
        }
        Ok(())
    }
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
