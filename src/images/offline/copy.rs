//! Walks a directory of this machine and lists the files that belong into an image.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::OfflineError;

/// How deep a directory is walked; no standard library nests deeper.
const DEPTH: usize = 32;

/// A file that was found: below the directory that was walked, and where its content is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The path below the directory.
    pub(super) relative: PathBuf,
    /// The regular file with its content, symbolic links followed.
    pub(super) host: PathBuf,
}

/// The regular files below `root` that `wanted` takes (it sees paths below the root, and is
/// asked about directories too). Links to files outside of the root are passed over, as are
/// links to directories, sockets and the like.
pub(super) fn files(
    root: &Path,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<Vec<Found>, OfflineError> {
    let root = super::filler::canonical(root)?;
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(directory) = waiting.pop() {
        for name in names(&root.join(&directory))? {
            let relative = directory.join(name);
            if wanted(&relative) {
                sort_in(&root, relative, &mut found, &mut waiting)?;
            }
        }
    }
    Ok(found)
}

fn names(directory: &Path) -> Result<Vec<std::ffi::OsString>, OfflineError> {
    let read = |source| OfflineError::Read { path: directory.to_owned(), source };
    let entries = fs::read_dir(directory).map_err(read)?;
    entries
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<_>>()
        .map_err(read)
}

fn sort_in(
    root: &Path,
    relative: PathBuf,
    found: &mut Vec<Found>,
    waiting: &mut Vec<PathBuf>,
) -> Result<(), OfflineError> {
    let path = root.join(&relative);
    let read = |source| OfflineError::Read { path: path.clone(), source };
    let kind = fs::symlink_metadata(&path).map_err(read)?.file_type();
    if kind.is_dir() && relative.components().count() < DEPTH {
        waiting.push(relative);
    } else if kind.is_file() {
        found.push(Found { relative, host: path });
    } else if kind.is_symlink() {
        found.extend(inside(root, &path).map(|host| Found { relative, host }));
    }
    Ok(())
}

/// The regular file that a link leads to, if it stays below the root. A dangling link leads nowhere.
fn inside(root: &Path, link: &Path) -> Option<PathBuf> {
    let target = link.canonicalize().ok()?;
    (target.starts_with(root) && target.is_file()).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn listed(root: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<String> {
        let files = files(root, wanted).unwrap();
        let mut paths: Vec<_> =
            files.iter().map(|file| file.relative.display().to_string()).collect();
        paths.sort();
        paths
    }

    #[test]
    fn wanted_files_are_found_at_every_depth() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::create_dir(root.path().join("no")).unwrap();
        for file in ["x", "a/b/y", "no/z"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        assert_eq!(listed(root.path(), &|path| path != Path::new("no")), ["a/b/y", "x"]);
    }

    #[test]
    fn links_are_followed_only_to_files_inside() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("file"), "").unwrap();
        symlink("file", path("inside")).unwrap();
        symlink(outside.path(), path("outside")).unwrap();
        symlink("/etc/passwd", path("passwd")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        symlink(".", path("loop")).unwrap();
        assert_eq!(listed(root.path(), &|_| true), ["file", "inside"]);
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_named() {
        let error = files(Path::new("/nonexistent"), &|_| true).unwrap_err();
        assert_eq!(error.to_string(), "cannot read `/nonexistent`");
    }
}
