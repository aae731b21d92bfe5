//! A directory that is gone when its owner is.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// A directory of its owner's alone, removed with all that is in it when this value goes.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes a new, empty directory that nobody else can look into.
    pub(super) fn new() -> io::Result<Self> {
        let path = env::temp_dir().join(format!("das-{}", Uuid::new_v4().simple()));
        DirBuilder::new().mode(0o700).create(&path)?;
        // Installers follow symbolic links on the way to it; the loader names it without them.
        Ok(Self { path: path.canonicalize()? })
    }

    /// Where it is, free of symbolic links.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to be told; the system empties its temporary directory in time.
        fs::remove_dir_all(&self.path).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_its_owner_and_all_that_is_in_it() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        fs::create_dir(path.join("inner")).unwrap();
        fs::write(path.join("inner/file"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
