//! The machine's own `CPython`: the interpreter, its standard library, its extension modules.
//!
//! The interpreter finds its library from where it stands, so the whole prefix can move.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::engine::command::{CommandError, CommandLine};

use super::copy;
use super::elf::{self, Binary};
use super::error::OfflineError;
use super::filler::Filler;
use super::tree::FileKind;

const PROGRAM: &str = "python3";
const ASK_BOUND: Duration = Duration::from_secs(20);

/// Asked of the interpreter itself, because what `PATH` finds may be a shim or an environment.
const ASK: &str = r#"
import json, os, platform, sys
print(json.dumps({
    "implementation": sys.implementation.name,
    "version": platform.python_version(),
    "short": "%d.%d" % sys.version_info[:2],
    "executable": os.path.realpath("/proc/self/exe"),
    "prefix": sys.base_prefix,
    "library": os.path.dirname(os.__file__),
    "modules": [p for p in sys.path if os.path.basename(p) == "lib-dynload" and os.path.isdir(p)],
}))
"#;

/// Parts of the standard library that a sandboxed program has no use for: tests, windows, an
/// installer, what links programs against the interpreter.
const NO_USE: [&str; 7] = [
    "ensurepip",
    "idlelib",
    "site-packages",
    "dist-packages",
    "tkinter",
    "turtledemo",
    "turtle.py",
];

/// What the machine's owner may have put into the library to change every start.
const CUSTOM: [&str; 2] = ["sitecustomize.py", "usercustomize.py"];

/// Extension modules without use: tests, windows, and one that drags in all of Kerberos for
/// a directory service that Python itself has dropped.
const NO_USE_MODULES: [&str; 5] = ["_test", "_ctypes_test", "_xxtest", "_tkinter", "nis"];

/// Public data that the library reads: time zones, and the one locale that is not a choice.
const DATA: [&str; 2] = ["/usr/share/zoneinfo", "/usr/lib/locale/C.utf8"];

#[derive(Debug, Deserialize)]
struct Answer {
    implementation: String,
    version: String,
    short: String,
    executable: PathBuf,
    prefix: PathBuf,
    library: PathBuf,
    modules: Vec<PathBuf>,
}

/// Adds the interpreter and its standard library, and returns its version.
pub(super) fn fill(filler: &mut Filler) -> Result<String, OfflineError> {
    let answer = ask()?;
    let home = Home::of(&answer);
    program(filler, &answer, &home)?;
    library(filler, &answer, &home)?;
    data(filler)?;
    Ok(answer.version)
}

fn ask() -> Result<Answer, OfflineError> {
    let said = match CommandLine::new(PROGRAM, ["-I", "-S", "-c", ASK]).run(ASK_BOUND) {
        Ok(said) => said.out(),
        Err(CommandError::NotFound { program: _ }) => {
            return Err(OfflineError::NotInstalled { program: PROGRAM });
        }
        Err(source) => return Err(OfflineError::Ask { program: PROGRAM, source }),
    };
    let answer: Answer =
        serde_json::from_str(&said).map_err(|_| super::error::unusable(PROGRAM, &said))?;
    if answer.implementation == "cpython" {
        Ok(answer)
    } else {
        let found = answer.implementation;
        Err(OfflineError::Unsupported { program: PROGRAM, found, wanted: "CPython" })
    }
}

/// Where the interpreter lives on this machine, and where in the image.
#[derive(Debug)]
struct Home<'a> {
    old: &'a Path,
    new: &'a Path,
}

impl<'a> Home<'a> {
    /// A distribution's interpreter stays where it is; a person's own moves to `/usr/local`.
    fn of(answer: &'a Answer) -> Self {
        let old = answer.prefix.as_path();
        let fixed = [Path::new("/usr"), Path::new("/usr/local")].contains(&old);
        Self { old, new: if fixed { old } else { Path::new("/usr/local") } }
    }

    /// The path in the image of a path of this machine, if it belongs to the interpreter.
    fn at(&self, host: &Path) -> Option<PathBuf> {
        host.strip_prefix(self.old).ok().map(|rest| self.new.join(rest))
    }
}

fn program(filler: &mut Filler, answer: &Answer, home: &Home<'_>) -> Result<(), OfflineError> {
    let name = format!("python{}", answer.short);
    let directory = home.new.join("bin");
    filler.required(&directory.join(&name), &answer.executable)?;
    for link in ["python3", "python"] {
        filler.tree.symlink(&directory.join(link), Path::new(&name));
    }
    Ok(())
}

/// The standard library, and the extension modules where they lie outside of it.
fn library(filler: &mut Filler, answer: &Answer, home: &Home<'_>) -> Result<(), OfflineError> {
    let loader = match elf::inspect(&answer.executable)? {
        Binary::Dynamic { loader } => Some(loader),
        Binary::NoLoader | Binary::ShellScript | Binary::Other => None,
    };
    let outside = answer.modules.iter().filter(|modules| !modules.starts_with(&answer.library));
    for root in std::iter::once(&answer.library).chain(outside) {
        let at = home.at(root).ok_or_else(|| elsewhere(root))?;
        for file in copy::files(root, &has_use)? {
            add(filler, loader.as_deref(), &at.join(&file.relative), &file.host, home)?;
        }
    }
    Ok(())
}

fn elsewhere(library: &Path) -> OfflineError {
    let found = format!("an interpreter whose library is elsewhere, in {}", library.display());
    OfflineError::Unsupported { program: PROGRAM, found, wanted: "one that is all in one place" }
}

fn add(
    filler: &mut Filler,
    loader: Option<&Path>,
    at: &Path,
    host: &Path,
    home: &Home<'_>,
) -> Result<(), OfflineError> {
    if host.extension().is_some_and(|ending| ending == "so") {
        return filler.module(loader, at, host);
    }
    if name(host).starts_with("_sysconfigdata") {
        filler.tree.bytes(at, moved(host, home)?);
    } else {
        filler.tree.host_file(at, host, FileKind::Data);
    }
    Ok(())
}

/// How the interpreter was built, told with the paths that are true in the image.
fn moved(host: &Path, home: &Home<'_>) -> Result<String, OfflineError> {
    let read = |source| OfflineError::Read { path: host.to_owned(), source };
    let text = fs::read_to_string(host).map_err(read)?;
    let (old, new) = (home.old.to_string_lossy(), home.new.to_string_lossy());
    Ok(if old == new { text } else { text.replace(&*old, &new) })
}

/// Whether a path below the standard library is wanted in the image.
fn has_use(relative: &Path) -> bool {
    let file = name(relative);
    let top = relative.iter().next().unwrap_or_default().to_string_lossy();
    let stem = file.split('.').next().unwrap_or_default();
    let compiled = [".pyc", ".pyo", ".a", ".exe"].iter().any(|ending| file.ends_with(ending));
    let test = ["__pycache__", "test", "tests", "idle_test"].contains(&&*file);
    let module = file.ends_with(".so") && NO_USE_MODULES.iter().any(|no| no_use_module(stem, no));
    !(compiled
        || test
        || module
        || NO_USE.contains(&&*top)
        || CUSTOM.contains(&&*top)
        || top.starts_with("config-"))
}

fn no_use_module(stem: &str, no: &str) -> bool {
    stem == no || (no.ends_with("test") && stem.starts_with(no))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn data(filler: &mut Filler) -> Result<(), OfflineError> {
    for directory in DATA.map(Path::new) {
        if directory.is_dir() {
            for file in copy::files(directory, &is_common)? {
                let at = directory.join(&file.relative);
                filler.tree.host_file(&at, &file.host, FileKind::Data);
            }
        } else {
            filler.left_out.push(format!("{}: not on this machine", directory.display()));
        }
    }
    Ok(())
}

/// Time zones with leap seconds are a second copy of all of them, and the local one is a choice.
fn is_common(relative: &Path) -> bool {
    let top = relative.iter().next().unwrap_or_default().to_string_lossy();
    !["posix", "right", "localtime", "posixrules"].contains(&&*top)
}
