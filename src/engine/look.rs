//! The engine's answers about containers and images, for those who check its work.

use std::time::Duration;

use serde_json::Value;

use super::Engine;
use super::command::{CommandError, CommandLine, Finished};
use crate::names::ImageRef;
use crate::tag::{OWNER_LABEL, Owner};

/// How long it may take to answer a question on a busy machine.
const ASK_BOUND: Duration = Duration::from_secs(10);

/// Which containers are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Those that run.
    Running,
    /// All of them, stopped and created ones too.
    Any,
}

/// Why the engine does not tell.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The command did not run to its end.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The engine refused, in its own words.
    #[error("the engine does not tell: {0}")]
    Refused(String),
    /// Its answer is not understood.
    #[error("the answer of the engine is not understood")]
    Garbage(#[source] serde_json::Error),
}

impl Engine {
    /// The names of the containers of a process.
    pub fn containers_of(&self, owner: &Owner, phase: Phase) -> Result<Vec<String>, LookError> {
        let filter = format!("label={OWNER_LABEL}={owner}");
        let all = match phase {
            Phase::Running => None,
            Phase::Any => Some("--all"),
        };
        let args = ["ps", "--filter", &filter, "--format", "{{.Names}}"];
        let finished = answered(&self.command(args.into_iter().chain(all)))?;
        Ok(finished.out().lines().map(|name| name.trim().to_owned()).collect())
    }

    /// Removes a container that [`containers_of`](Self::containers_of) has named.
    pub fn remove_named(&self, container: &str) -> Result<(), LookError> {
        answered(&self.command(["rm", "--force", container])).map(drop)
    }

    /// Where the engine writes what a container prints: `none` where it keeps nothing.
    pub fn log_driver(&self, container: &str) -> Result<String, LookError> {
        let args = ["inspect", "--format", "{{.HostConfig.LogConfig.Type}}", container];
        Ok(answered(&self.command(args))?.out())
    }

    /// The names of the variables that an image sets.
    pub fn image_variables(&self, image: &ImageRef) -> Result<Vec<String>, LookError> {
        let args = ["image", "inspect", "--format", "{{json .Config.Env}}", image.as_str()];
        let text = answered(&self.command(args))?.out();
        let pairs: Value = serde_json::from_str(&text).map_err(LookError::Garbage)?;
        let pairs = pairs.as_array().map(Vec::as_slice).unwrap_or_default();
        let names = pairs.iter().filter_map(Value::as_str);
        Ok(names.map(|pair| pair.split('=').next().unwrap_or(pair).to_owned()).collect())
    }

    /// The version of the engine itself, as it states it.
    pub fn server_version(&self) -> Result<String, LookError> {
        let args = ["version", "--format", "{{.Server.Version}}"];
        Ok(answered(&self.command(args))?.out())
    }
}

fn answered(command: &CommandLine) -> Result<Finished, LookError> {
    let finished = command.run(ASK_BOUND)?;
    if finished.success() { Ok(finished) } else { Err(LookError::Refused(finished.err())) }
}
