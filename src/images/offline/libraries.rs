//! The closure of the shared libraries of a program, as this machine's own loader resolves it.
//!
//! Both glibc's and musl's loader list what a file needs when they are called with `--list`;
//! they find it as they would at run time, `RPATH`s and the cache included. The code of the
//! file itself does not run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::command::{CommandLine, EnvChanges};

use super::error::OfflineError;

/// How long the loader may take to list one file.
const LIST_BOUND: Duration = Duration::from_secs(20);

/// A library that a file needs, found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Library {
    /// What it is asked for by: a bare name, or a path that is written into the file.
    pub(super) name: String,
    /// Where this machine has it.
    pub(super) path: PathBuf,
}

/// What one file needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// What this machine has.
    pub(super) found: Vec<Library>,
    /// The names of what it lacks.
    pub(super) missing: Vec<String>,
}

impl Needs {
    /// The directory of the C library: what lies there, the loader finds with no configuration.
    pub(super) fn libc_directory(&self) -> Option<&Path> {
        let libc = self.found.iter().find(|library| library.name.starts_with("libc."))?;
        libc.path.parent()
    }
}

/// Asks `loader` what `file` needs, the libraries of its libraries included.
pub(super) fn needs(loader: &Path, file: &Path) -> Result<Needs, OfflineError> {
    let mut command = CommandLine::new(loader, [OsString::from("--list"), file.into()]);
    // A library that this session preloads is no part of the program.
    command.env = EnvChanges { set: Vec::new(), unset: vec!["LD_PRELOAD".into()] };
    let listed = command
        .run(LIST_BOUND)
        .map_err(|source| OfflineError::List { path: file.to_owned(), source })?;
    let mut needs = parse(&listed.out());
    needs.missing.extend(musl_missing(&listed.err()));
    Ok(needs)
}

fn parse(listing: &str) -> Needs {
    let mut needs = Needs::default();
    for line in listing.lines().map(str::trim) {
        match line.split_once(" => ") {
            Some((name, "not found")) => needs.missing.push(name.to_owned()),
            Some((name, rest)) => needs.found.extend(library(name, rest)),
            None => needs.found.extend(library(line, line)),
        }
    }
    needs
}

/// A line's library: `libm.so.6 => /lib/libm.so.6 (0x7f...)`, or the loader's own path alone.
/// The kernel's `linux-vdso.so.1 (0x7f...)` and words such as `statically linked` have no path.
fn library(name: &str, rest: &str) -> Option<Library> {
    let strip = |text: &str| text.rsplit_once(" (0x").map_or(text, |(path, _)| path).to_owned();
    let path = strip(rest);
    path.starts_with('/').then(|| Library { name: strip(name), path: path.into() })
}

/// musl says what it lacks on stderr: `Error loading shared library NAME: ... (needed by FILE)`.
fn musl_missing(errors: &str) -> impl Iterator<Item = String> {
    let names = errors.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("Error loading shared library ")?.split_once(':')?;
        Some(name.to_owned())
    });
    names.collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str, path: &str) -> Library {
        Library { name: name.to_owned(), path: path.into() }
    }

    #[test]
    fn the_listing_of_glibc_is_understood() {
        let needs = parse(
            "\tlinux-vdso.so.1 (0x00007f1c6b88e000)\n\
             \tlibssl.so.3 => /lib/x86_64-linux-gnu/libssl.so.3 (0x00007f1c6b79d000)\n\
             \tlibodd name.so => /opt/a b/libodd name.so (0x00007f1c6b79d000)\n\
             \tlibgone.so.1 => not found\n\
             \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1c6b01e000)\n\
             \t/lib64/ld-linux-x86-64.so.2 (0x00007f1c6b890000)\n",
        );
        let found = [
            library("libssl.so.3", "/lib/x86_64-linux-gnu/libssl.so.3"),
            library("libodd name.so", "/opt/a b/libodd name.so"),
            library("libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6"),
            library("/lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"),
        ];
        assert_eq!(needs.found, found);
        assert_eq!(needs.missing, ["libgone.so.1"]);
        assert_eq!(needs.libc_directory(), Some(Path::new("/lib/x86_64-linux-gnu")));
    }

    #[test]
    fn the_listing_of_musl_is_understood() {
        let mut needs = parse(
            "\t/lib/ld-musl-x86_64.so.1 (0x7f5c1c1f4000)\n\
             \tlibpython3.12.so.1.0 => /usr/lib/libpython3.12.so.1.0 (0x7f5c1be00000)\n\
             \tlibc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f5c1c1f4000)\n",
        );
        needs.missing.extend(musl_missing(
            "Error loading shared library libffi.so.8: No such file or directory (needed by a.so)\n\
             Error relocating a.so: ffi_call: symbol not found\n",
        ));
        assert_eq!(needs.libc_directory(), Some(Path::new("/lib")));
        assert_eq!(needs.found.len(), 3);
        assert_eq!(needs.missing, ["libffi.so.8"]);
    }

    #[test]
    fn a_static_program_needs_nothing() {
        assert_eq!(parse("\tstatically linked\n"), Needs::default());
    }
}
