//! Fills a tree with programs and what they need to start.
//!
//! It knows files, symbolic links and shared libraries; it knows no language.

use std::path::{Path, PathBuf};

use super::elf::{self, Binary};
use super::error::OfflineError;
use super::libraries::{self, Library, Needs};
use super::tree::{FileKind, Tree};

/// What is opened by name only at run time: by glibc, to end threads and to look up users and
/// hosts; by programs that were built for an older glibc, which came in more parts.
const OPENED_AT_RUN_TIME: [&str; 8] = [
    "libdl.so.2",
    "libgcc_s.so.1",
    "libnss_dns.so.2",
    "libnss_files.so.2",
    "libpthread.so.0",
    "libresolv.so.2",
    "librt.so.1",
    "libutil.so.1",
];

/// A tree in the making, and what had to be left out of it.
#[derive(Debug, Default)]
pub(super) struct Filler {
    pub(super) tree: Tree,
    pub(super) left_out: Vec<String>,
}

impl Filler {
    /// Adds a program that the image cannot do without, its loader and its libraries.
    pub(super) fn required(&mut self, at: &Path, host: &Path) -> Result<(), OfflineError> {
        let binary = elf::inspect(host)?;
        let needs = program_needs(&binary, host)?;
        if let Some(library) = needs.missing.first() {
            let library = library.clone();
            return Err(OfflineError::MissingLibrary { path: host.to_owned(), library });
        }
        self.place(at, host, &binary, &needs);
        Ok(())
    }

    /// Adds a program if it can run in the image; otherwise says why it is left out.
    pub(super) fn optional(&mut self, at: &Path, host: &Path) -> Result<(), OfflineError> {
        let binary = elf::inspect(host)?;
        let needs = program_needs(&binary, host)?;
        if let Some(library) = needs.missing.first() {
            self.left_out.push(format!("`{}`: this machine lacks `{library}`", host.display()));
        } else {
            self.place(at, host, &binary, &needs);
        }
        Ok(())
    }

    /// Adds a shared object that is loaded at run time, or says why it is left out.
    pub(super) fn module(
        &mut self,
        loader: Option<&Path>,
        at: &Path,
        host: &Path,
    ) -> Result<(), OfflineError> {
        let needs = loader.map(|loader| libraries::needs(loader, host)).transpose()?;
        let needs = needs.unwrap_or_default();
        if let Some(library) = needs.missing.first() {
            let name = at.file_name().unwrap_or_default().display();
            self.left_out.push(format!("`{name}`: this machine lacks `{library}`"));
            return Ok(());
        }
        self.tree.host_file(at, host, FileKind::Data);
        self.libraries(&needs);
        Ok(())
    }

    /// Adds a shared object of a package, and what it needs from outside of the package. One that
    /// lacks something stays, since its package may do without it; but it is said.
    pub(super) fn carried(
        &mut self,
        loader: Option<&Path>,
        at: &Path,
        host: &Path,
        packages: &Path,
    ) -> Result<(), OfflineError> {
        self.tree.host_file(at, host, FileKind::Data);
        let needs = loader.map(|loader| libraries::needs(loader, host)).transpose()?;
        let mut needs = needs.unwrap_or_default();
        // A package may name only libraries, not paths of this machine.
        needs
            .found
            .retain(|library| !library.path.starts_with(packages) && !library.name.contains('/'));
        let missing = needs.missing.iter();
        self.left_out.extend(
            missing.map(|library| {
                format!("`{library}` for `{}`: this machine lacks it", at.display())
            }),
        );
        self.libraries(&needs);
        Ok(())
    }

    fn place(&mut self, at: &Path, host: &Path, binary: &Binary, needs: &Needs) {
        self.tree.host_file(at, host, FileKind::Program);
        if let Binary::Dynamic { loader } = binary {
            self.tree.host_file(loader, loader, FileKind::Program);
        }
        self.libraries(needs);
    }

    /// Every library goes into the directory of the C library, under the name that it is asked
    /// for by: the loader looks there without a cache, a path variable or an `RPATH`.
    fn libraries(&mut self, needs: &Needs) {
        let Some(directory) = needs.libc_directory() else { return };
        for Library { name, path } in &needs.found {
            // A name with a slash is itself the path; joining it replaces the directory.
            self.tree.host_file(&directory.join(name), path, FileKind::Program);
        }
        for name in OPENED_AT_RUN_TIME {
            let path = directory.join(name);
            if path.is_file() {
                self.tree.host_file(&path, &path, FileKind::Program);
            }
        }
    }
}

fn program_needs(binary: &Binary, host: &Path) -> Result<Needs, OfflineError> {
    match binary {
        Binary::Dynamic { loader } => libraries::needs(loader, host),
        Binary::NoLoader | Binary::ShellScript | Binary::Other => Ok(Needs::default()),
    }
}

/// The file that a path stands for, its symbolic links followed.
pub(super) fn canonical(path: &Path) -> Result<PathBuf, OfflineError> {
    path.canonicalize().map_err(|source| OfflineError::Read { path: path.to_owned(), source })
}
