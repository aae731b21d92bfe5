//! The machine's own `CPython`: the interpreter, its standard library, its extension modules.
//!
//! The interpreter finds its library from where it stands, so the whole of it can move.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ask::ask;
use super::copy;
use super::elf;
use super::error::OfflineError;
use super::filler::Filler;
use super::stdlib::has_use;
use super::tree::FileKind;

const PROGRAM: &str = "python3";

/// Asked of the interpreter itself, because what `PATH` finds may be a shim or an environment.
const ASK: &str = r#"
import json, os, platform, site, sys
print(json.dumps({
    "implementation": sys.implementation.name,
    "version": platform.python_version(),
    "short": "%d.%d" % sys.version_info[:2],
    "executable": os.path.realpath("/proc/self/exe"),
    "prefix": sys.base_prefix,
    "library": os.path.dirname(os.__file__),
    "modules": [p for p in sys.path if os.path.basename(p) == "lib-dynload" and os.path.isdir(p)],
    "packages": site.getsitepackages([sys.base_prefix])[0],
}))
"#;

/// Public data that programs read: time zones, and the one locale that is nobody's choice.
const DATA: [&str; 2] = ["/usr/share/zoneinfo", "/usr/lib/locale/C.utf8"];

/// The machine's interpreter, as it describes itself.
#[derive(Debug, Deserialize)]
struct Python {
    implementation: String,
    version: String,
    short: String,
    executable: PathBuf,
    prefix: PathBuf,
    library: PathBuf,
    modules: Vec<PathBuf>,
    packages: PathBuf,
}

/// What the rest of an image needs to know of the interpreter in it.
#[derive(Debug)]
pub(super) struct Installed {
    /// Its version.
    pub(super) version: String,
    /// Where it looks for packages in the image.
    pub(super) packages: PathBuf,
    /// What loads its extension modules, unless it is a static program, which loads none.
    pub(super) loader: Option<PathBuf>,
}

/// Adds the interpreter and its standard library.
pub(super) fn fill(filler: &mut Filler) -> Result<Installed, OfflineError> {
    let python = Python::of_this_machine()?;
    let loader = elf::loader_of(&python.executable)?;
    python.add_program(filler)?;
    python.add_library(filler, loader.as_deref())?;
    add_data(filler)?;
    Ok(Installed { packages: python.place(&python.packages)?, version: python.version, loader })
}

impl Python {
    fn of_this_machine() -> Result<Self, OfflineError> {
        let python: Self = ask(PROGRAM, &["-I", "-S", "-c", ASK])?;
        if python.implementation == "cpython" {
            Ok(python)
        } else {
            let found = python.implementation;
            Err(OfflineError::Unsupported { program: PROGRAM, found, wanted: "CPython" })
        }
    }

    /// A distribution's interpreter stays where it is; a person's own moves to `/usr/local`.
    fn new_prefix(&self) -> &Path {
        let local = Path::new("/usr/local");
        if self.prefix == Path::new("/usr") { &self.prefix } else { local }
    }

    /// The path in the image of a path below the interpreter's prefix.
    fn place(&self, host: &Path) -> Result<PathBuf, OfflineError> {
        let below = host.strip_prefix(&self.prefix).map_err(|_| OfflineError::Unsupported {
            program: PROGRAM,
            found: format!("an interpreter with parts elsewhere (`{}`)", host.display()),
            wanted: "one that is all in one place",
        })?;
        Ok(self.new_prefix().join(below))
    }

    fn add_program(&self, filler: &mut Filler) -> Result<(), OfflineError> {
        let name = format!("python{}", self.short);
        let directory = self.new_prefix().join("bin");
        filler.required(&directory.join(&name), &self.executable)?;
        for link in ["python3", "python"] {
            filler.tree.symlink(&directory.join(link), Path::new(&name));
        }
        Ok(())
    }

    /// The standard library, and the extension modules where they lie outside of it.
    fn add_library(&self, filler: &mut Filler, loader: Option<&Path>) -> Result<(), OfflineError> {
        let outside = self.modules.iter().filter(|modules| !modules.starts_with(&self.library));
        for root in std::iter::once(&self.library).chain(outside) {
            let place = self.place(root)?;
            for file in copy::files(root, &has_use)? {
                let at = place.join(&file.relative);
                if file.host.extension().is_some_and(|ending| ending == "so") {
                    filler.module(loader, &at, &file.host)?;
                } else {
                    self.add_source(filler, &at, &file.host)?;
                }
            }
        }
        Ok(())
    }

    /// How the interpreter was built is told with the paths that are true in the image.
    fn add_source(&self, filler: &mut Filler, at: &Path, host: &Path) -> Result<(), OfflineError> {
        let name = host.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("_sysconfigdata") {
            let read = |source| OfflineError::Read { path: host.to_owned(), source };
            let text = fs::read_to_string(host).map_err(read)?;
            let (old, new) = (self.prefix.to_string_lossy(), self.new_prefix().to_string_lossy());
            filler.tree.bytes(at, text.replace(&*old, &new));
        } else {
            filler.tree.host_file(at, host, FileKind::Data);
        }
        Ok(())
    }
}

fn add_data(filler: &mut Filler) -> Result<(), OfflineError> {
    for directory in DATA.map(Path::new) {
        if directory.is_dir() {
            for file in copy::files(directory, &is_everybodys)? {
                let at = directory.join(&file.relative);
                filler.tree.host_file(&at, &file.host, FileKind::Data);
            }
        } else {
            filler.left_out.push(format!("`{}`: not on this machine", directory.display()));
        }
    }
    Ok(())
}

/// Time zones with leap seconds are a second copy of all of them, and the local one is a choice.
fn is_everybodys(relative: &Path) -> bool {
    let top = relative.iter().next().unwrap_or_default().to_string_lossy();
    !["posix", "right", "localtime", "posixrules"].contains(&&*top)
}
