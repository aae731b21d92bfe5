//! The machine's own Node.js: one program and its libraries; its modules are built in.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ask::ask;
use super::elf;
use super::error::OfflineError;
use super::filler::{Filler, canonical};

/// What `PATH` finds may be a version manager's shim; the interpreter knows where it is.
const ASK: &str =
    "console.log(JSON.stringify({version: process.versions.node, executable: process.execPath}))";

#[derive(Debug, Deserialize)]
struct Answer {
    version: String,
    executable: PathBuf,
}

/// What the rest of an image needs to know of the interpreter in it.
#[derive(Debug)]
pub(super) struct Installed {
    /// Its version.
    pub(super) version: String,
    /// What loads its add-ons, unless it is a static program, which loads none.
    pub(super) loader: Option<PathBuf>,
}

/// Adds the interpreter.
pub(super) fn fill(filler: &mut Filler) -> Result<Installed, OfflineError> {
    let answer: Answer = ask("node", &["-e", ASK])?;
    let executable = canonical(&answer.executable)?;
    filler.required(Path::new("usr/local/bin/node"), &executable)?;
    Ok(Installed { version: answer.version, loader: elf::loader_of(&executable)? })
}
