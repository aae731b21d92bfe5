//! The machine's own Node.js: one program and its libraries. Its modules are built in, but for
//! those that some distributions take out and keep in files of their own.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ask::ask;
use super::elf;
use super::error::OfflineError;
use super::filler::{Filler, canonical};
use super::libraries;
use super::tree::FileKind;

/// What `PATH` finds may be a version manager's shim; the interpreter knows where it is.
const ASK: &str = "console.log(JSON.stringify({ \
    version: process.versions.node, \
    executable: process.execPath, \
    own: (process.config.variables.node_builtin_shareable_builtins || []).length }))";

/// Where distributions keep the modules that they take out.
const DISTRIBUTION: &str = "/usr";

#[derive(Debug, Deserialize)]
struct Answer {
    version: String,
    executable: PathBuf,
    /// How many of the modules that can be taken out are still in.
    own: usize,
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
    let loader = elf::loader_of(&executable)?;
    if answer.own == 0 {
        let library = own_library(&executable, loader.as_deref())?;
        for module in named_modules(&library.unwrap_or(executable), Path::new(DISTRIBUTION))? {
            filler.tree.host_file(&module, &module, FileKind::Data);
        }
    }
    Ok(Installed { version: answer.version, loader })
}

/// The interpreter itself, where the program is only a shell around a library.
fn own_library(executable: &Path, loader: Option<&Path>) -> Result<Option<PathBuf>, OfflineError> {
    let needs = loader.map(|loader| libraries::needs(loader, executable)).transpose()?;
    let mut found = needs.unwrap_or_default().found.into_iter();
    Ok(found.find(|library| library.name.starts_with("libnode.")).map(|library| library.path))
}

/// The files that the interpreter reads its own modules from: it holds their whole paths, as
/// distributions write them into it, and tells them nowhere else.
fn named_modules(program: &Path, below: &Path) -> Result<Vec<PathBuf>, OfflineError> {
    let read = |source| OfflineError::Read { path: program.to_owned(), source };
    let file = BufReader::with_capacity(1 << 16, File::open(program).map_err(read)?);
    let mut modules = Vec::new();
    for text in file.split(0) {
        let text = text.map_err(read)?;
        if text.starts_with(b"/") && text.ends_with(b".js") && text.len() < 256 {
            modules.push(PathBuf::from(OsStr::from_bytes(&text)));
        }
    }
    let plain = |path: &Path| path.components().all(|part| part.as_os_str() != "..");
    modules.retain(|module| module.starts_with(below) && plain(module) && module.is_file());
    Ok(modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_a_program_names_are_found_if_they_are_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("module.js"), "").unwrap();
        let names = ["module.js", "gone.js", "x/../module.js"].map(path);
        let names = names.map(|name| format!("\0{}\0", name.display())).concat();
        std::fs::write(path("program"), format!("\x7fELF\0/etc/passwd{names}/x.js x")).unwrap();
        let found = named_modules(&path("program"), directory.path()).unwrap();
        assert_eq!(found, [path("module.js")]);
    }
}
