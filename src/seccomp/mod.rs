//! The filter of system calls that a container gets: the engine's own, das's stricter one, or one
//! that the policy's owner wrote.
//!
//! An engine's client reads a filter from a file, so that das keeps its own one in a private file
//! for it. It knows files and profiles, not walls.

mod rules;
mod store;
mod strict;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::policy::SeccompChoice;
use rules::{Action, Rules};

pub use strict::{ALLOWED, UNKNOWN, profile};

/// No profile is longer.
const MOST_BYTES: u64 = 1 << 20;

/// A profile that is there to be read by the engine's client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    path: String,
    /// What is in it, where it is not das's own.
    rules: Option<Rules>,
}

/// Why there is no profile to hand to the engine.
#[derive(Debug, thiserror::Error)]
pub enum SeccompError {
    /// The file cannot be read.
    #[error("cannot read the seccomp profile `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no profile.
    #[error("`{}` is not a seccomp profile: {why}", path.display())]
    NotAProfile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no place for das's own profile.
    #[error("no private directory can hold the seccomp profile `strict`: set HOME or TMPDIR")]
    NoPlace(#[source] io::Error),
}

impl Profile {
    /// The profile of a choice; none where the engine's own is chosen. Looks at the file, and
    /// makes das's own again where it has been removed or changed.
    pub fn of(choice: &SeccompChoice) -> Result<Option<Self>, SeccompError> {
        match choice {
            SeccompChoice::Default => Ok(None),
            SeccompChoice::Strict => {
                let path = store::keep(&profile()).map_err(SeccompError::NoPlace)?;
                let path = plain(&path)?.to_owned();
                Ok(Some(Self { path, rules: None }))
            }
            SeccompChoice::Path(path) => of_owner(path).map(Some),
        }
    }

    /// The file, by an absolute path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the owner of the policy should hear on every run.
    pub fn warning(&self) -> Option<String> {
        let loose = self.rules.as_ref().is_some_and(|rules| rules.default == Action::Allow);
        let path = &self.path;
        loose.then(|| format!("the seccomp profile `{path}` allows what it does not name"))
    }

    /// Whether it lets a program without capabilities make this call, if only with some arguments.
    pub fn allows(&self, call: &str) -> bool {
        match &self.rules {
            Some(rules) => rules.allow(call),
            None => ALLOWED.iter().any(|names| names.contains(&call)),
        }
    }
}

/// A path that can be shown, and be a word of a command line.
fn plain(path: &Path) -> Result<&str, SeccompError> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let why = "its path is not plain UTF-8";
    text.ok_or_else(|| SeccompError::NotAProfile { path: path.to_owned(), why })
}

fn of_owner(path: &Path) -> Result<Profile, SeccompError> {
    let not = |why| SeccompError::NotAProfile { path: path.to_owned(), why };
    let text = read(path).map_err(|source| SeccompError::Read { path: path.to_owned(), source })?;
    let value: Value = serde_json::from_slice(&text).map_err(|_| not("it is not JSON"))?;
    let rules = Some(Rules::read(&value).map_err(not)?);
    Ok(Profile { path: plain(path)?.to_owned(), rules })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    fn of(text: &str) -> Result<Option<Profile>, SeccompError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("profile.json");
        fs::write(&path, text).unwrap();
        Profile::of(&SeccompChoice::Path(path))
    }

    #[test]
    fn a_profile_of_the_owner_is_looked_at() {
        let strict = of(r#"{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": []}"#).unwrap().unwrap();
        assert!(strict.path().ends_with("/profile.json") && strict.warning().is_none());
        let loose = of(r#"{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": []}"#).unwrap().unwrap();
        assert!(loose.warning().is_some_and(|it| it.ends_with("allows what it does not name")));
        for text in ["", "[]", "{}", r#"{"defaultAction": "SCMP_ACT_ERRNO"}"#] {
            assert!(matches!(of(text), Err(SeccompError::NotAProfile { .. })), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_none_is_refused_and_named() {
        let error = Profile::of(&SeccompChoice::Path("/dev/null".into())).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the seccomp profile `/dev/null`");
        assert_eq!(error.source().unwrap().to_string(), "not a regular file");
    }

    #[test]
    fn the_engines_own_filter_needs_no_file() {
        assert_eq!(Profile::of(&SeccompChoice::Default).unwrap(), None);
    }
}
