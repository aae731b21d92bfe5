//! Keeps das's own profile in a file that nobody else can change.
//!
//! The name says the content, so that versions of das do not overwrite each other's files.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::{env, fmt::Write as _};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

const DIR: &str = "docker-agent-sandbox";

/// The path of a file with this content, which is made where it is missing or another.
pub(super) fn keep(text: &str) -> io::Result<PathBuf> {
    let mut error = io::Error::from(io::ErrorKind::NotFound);
    for dir in places() {
        match keep_in(&dir, text) {
            Ok(path) => return Ok(path),
            Err(new) => error = new,
        }
    }
    Err(error)
}

/// Where a user's private files may be: those that last as long as the command line that is shown
/// come first.
fn places() -> Vec<PathBuf> {
    let set = |name| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")));
    let runtime = set("XDG_RUNTIME_DIR");
    let shared = env::temp_dir().join(format!("{DIR}-{}", geteuid().as_raw()));
    let own = [cache, runtime].into_iter().flatten().filter(|dir| dir.is_absolute());
    own.map(|dir| dir.join(DIR)).chain([shared]).collect()
}

fn keep_in(dir: &Path, text: &str) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // In a directory that others can write, anybody could have put it there first.
    if !is_private(&fs::symlink_metadata(dir)?) {
        return Err(io::Error::other(format!("`{}` belongs to others too", dir.display())));
    }
    let path = dir.join(format!("seccomp-strict-{}.json", digest(text)));
    if !holds(&path, text) {
        replace(dir, &path, text)?;
    }
    Ok(path)
}

/// Whole or not at all: another das may be reading it.
fn replace(dir: &Path, path: &Path, text: &str) -> io::Result<()> {
    let part = dir.join(format!(".{}", Uuid::new_v4().simple()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // What is left of it is of no use, and the first error is the one to tell.
        fs::remove_file(&part).ok();
    }
    written
}

fn holds(path: &Path, text: &str) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let read = OpenOptions::new().read(true).custom_flags(flags).open(path);
    read.and_then(|file| is_same(file, text)).unwrap_or(false)
}

fn is_same(file: File, text: &str) -> io::Result<bool> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || !is_private(&metadata) {
        return Ok(false);
    }
    let mut found = Vec::new();
    file.take(text.len() as u64 + 1).read_to_end(&mut found)?;
    Ok(found == text.as_bytes())
}

/// Nobody but this user and root can change it.
fn is_private(metadata: &Metadata) -> bool {
    !metadata.is_symlink() && metadata.uid() == geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

fn digest(text: &str) -> String {
    let mut digits = String::new();
    for byte in &Sha256::digest(text)[..8] {
        write!(digits, "{byte:02x}").expect("a text can grow");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn the_file_is_private_and_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("a/b");
        let path = keep_in(&dir, "text").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
        let first = fs::metadata(&path).unwrap().ino();
        assert_eq!(keep_in(&dir, "text").unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), first);
        assert_ne!(keep_in(&dir, "other").unwrap(), path);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_was_changed_or_that_others_can_change_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = keep_in(dir.path(), "text").unwrap();
        fs::write(&path, "loose").unwrap();
        keep_in(dir.path(), "text").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        keep_in(dir.path(), "text").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        fs::remove_file(&path).unwrap();
        symlink("/etc/passwd", &path).unwrap();
        keep_in(dir.path(), "text").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    }

    #[test]
    fn a_directory_that_others_can_write_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(keep_in(&open, "text").is_err());
        let link = dir.path().join("link");
        symlink(dir.path(), &link).unwrap();
        assert!(keep_in(&link, "text").is_err());
    }
}
