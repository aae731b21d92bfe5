//! The machine's own Node.js: one program and its libraries, its modules are built in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::engine::command::{CommandError, CommandLine};

use super::error::OfflineError;
use super::filler::{Filler, canonical};

const PROGRAM: &str = "node";
const ASK_BOUND: Duration = Duration::from_secs(20);
const ASK: &str =
    "console.log(JSON.stringify({version: process.versions.node, executable: process.execPath}))";

#[derive(Debug, Deserialize)]
struct Answer {
    version: String,
    executable: PathBuf,
}

/// Adds the interpreter and returns its version.
pub(super) fn fill(filler: &mut Filler) -> Result<String, OfflineError> {
    let answer = ask()?;
    filler.required(Path::new("usr/local/bin/node"), &canonical(&answer.executable)?)?;
    Ok(answer.version)
}

fn ask() -> Result<Answer, OfflineError> {
    let said = match CommandLine::new(PROGRAM, ["-e", ASK]).run(ASK_BOUND) {
        Ok(said) => said.out(),
        Err(CommandError::NotFound { program: _ }) => {
            return Err(OfflineError::NotInstalled { program: PROGRAM });
        }
        Err(source) => return Err(OfflineError::Ask { program: PROGRAM, source }),
    };
    serde_json::from_str(&said).map_err(|_| super::error::unusable(PROGRAM, &said))
}
