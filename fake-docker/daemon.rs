//! A daemon that is not there, and a CLI that cannot find it.

use std::env;
use std::path::{Path, PathBuf};

use crate::call::Call;
use crate::failure::Failure;
use crate::scenario::{Answer, Daemon};
use crate::store::digest;

const DEFAULT_HOST: &str = "unix:///var/run/docker.sock";

impl Call {
    /// Passes when the daemon answers; otherwise says what the CLI says. `request` is the call
    /// of the Engine API that fails, as the CLI names it.
    pub(crate) fn reach_daemon(&self, request: &str) -> Result<Option<Answer>, Failure> {
        if let Some(answer) = missing_context(&context()) {
            return Ok(Some(answer));
        }
        match self.state.daemon(&self.scenario)? {
            Daemon::Up => Ok(None),
            Daemon::Hangs => self.state.hang(),
            Daemon::Down => Ok(Some(Answer::error(format!(
                "Cannot connect to the Docker daemon at {}. Is the docker daemon running?",
                host()
            )))),
            Daemon::Denied => Ok(Some(Answer::error(denied(request)))),
            Daemon::BadContext => Ok(Some(no_context("nope"))),
        }
    }
}

/// The daemon's address as the CLI finds it; an empty variable counts as unset.
pub(crate) fn host() -> String {
    non_empty("DOCKER_HOST").unwrap_or_else(|| DEFAULT_HOST.to_owned())
}

/// The CLI's context: `DOCKER_HOST` overrides every other.
pub(crate) fn context() -> String {
    match (non_empty("DOCKER_HOST"), non_empty("DOCKER_CONTEXT")) {
        (None, Some(context)) => context,
        (Some(_), _) | (None, None) => "default".to_owned(),
    }
}

impl Answer {
    /// Whether the CLI failed before it came to its command.
    pub(crate) fn is_of_the_cli(&self) -> bool {
        self.stderr.starts_with("Failed to initialize")
    }
}

/// Turns a failure of `docker run` before the start into what that command prints.
pub(crate) fn of_run(error: &Answer) -> Answer {
    if error.is_of_the_cli() {
        return error.clone();
    }
    let text = format!(
        "docker: {}\n\nRun 'docker run --help' for more information\n",
        error.stderr.trim_end_matches('\n')
    );
    Answer { stdout: String::new(), exit: exit_code(&text), stderr: text }
}

/// `docker run` takes its exit code from the daemon's words.
fn exit_code(text: &str) -> u8 {
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["executable file not found", "no such file or directory"]) {
        127
    } else if says(&["permission denied", "is a directory"]) {
        126
    } else {
        125
    }
}

fn denied(request: &str) -> String {
    let (method, path) = request.split_once(' ').unwrap_or(("Get", request));
    let socket = host().trim_start_matches("unix://").to_owned();
    format!(
        "permission denied while trying to connect to the Docker daemon socket at {}: \
         {method} \"http://{}{path}\": dial unix {socket}: connect: permission denied",
        host(),
        socket.replace('/', "%2F"),
    )
}

fn missing_context(name: &str) -> Option<Answer> {
    (name != "default" && !metadata(name).exists()).then(|| no_context(name))
}

fn no_context(name: &str) -> Answer {
    Answer::error(format!(
        "Failed to initialize: unable to resolve docker endpoint: context \"{name}\": context not \
         found: open {}: no such file or directory",
        metadata(name).display()
    ))
}

fn metadata(context: &str) -> PathBuf {
    let home = || Path::new(&non_empty("HOME").unwrap_or_default()).join(".docker");
    let config = non_empty("DOCKER_CONFIG").map_or_else(home, PathBuf::from);
    config.join("contexts/meta").join(digest(context.as_bytes())).join("meta.json")
}

fn non_empty(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}
