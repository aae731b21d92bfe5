//! Where a program comes from, and which language it is in.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use super::CliError;
use crate::language::{self, DEFAULT_LANGUAGE};
use crate::policy::SandboxPolicy;

/// Where the program is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// On standard input.
    Stdin,
    /// In a file.
    File(PathBuf),
    /// On the command line.
    Inline(String),
}

impl Source {
    /// What the arguments say.
    pub(super) fn new(file: Option<PathBuf>, code: Option<String>) -> Result<Self, CliError> {
        match (file, code) {
            (_, Some(code)) => Ok(Self::Inline(code)),
            (Some(path), None) if path == Path::new("-") => Ok(Self::Stdin),
            (Some(path), None) => Ok(Self::File(path)),
            (None, None) => Err(CliError::NoProgram),
        }
    }

    /// Reads it: at most one byte more than the policy allows, so that too long is noticed and
    /// memory stays bounded.
    pub(super) fn read(&self, policy: &SandboxPolicy) -> Result<Vec<u8>, CliError> {
        let most = policy.max_code_bytes + 1;
        let mut code = Vec::new();
        match self {
            Self::Inline(text) => code.extend_from_slice(text.as_bytes()),
            Self::File(path) => {
                File::open(path)
                    .and_then(|file| file.take(most).read_to_end(&mut code))
                    .map_err(|source| CliError::Read { path: path.clone(), source })?;
            }
            Self::Stdin => {
                if io::stdin().is_terminal() {
                    super::status::note("reading the program from the terminal; Ctrl-D ends it");
                }
                io::stdin().take(most).read_to_end(&mut code).map_err(CliError::ReadStdin)?;
            }
        }
        Ok(code)
    }

    /// The language of a program: what the file's name says, or its first line; python for code
    /// that is given without a name.
    pub(super) fn language(&self, code: &[u8], policy: &SandboxPolicy) -> Result<String, CliError> {
        let path = match self {
            Self::File(path) => Some(path.as_path()),
            Self::Stdin | Self::Inline(_) => None,
        };
        let found = path
            .and_then(|path| language_of_name(path, policy))
            .or_else(|| language::detect(None, code).map(|language| language.name.to_owned()));
        match (found, path) {
            (Some(name), _) => Ok(name),
            (None, None) => Ok(DEFAULT_LANGUAGE.to_owned()),
            (None, Some(path)) => Err(CliError::Language { path: path.to_owned() }),
        }
    }
}

/// What a file's name tells of its language; the policy's own rows win.
pub(super) fn language_of_name(path: &Path, policy: &SandboxPolicy) -> Option<String> {
    let builtin = || language::detect(Some(path), b"").map(|language| language.name.to_owned());
    added_language(path, policy).or_else(builtin)
}

/// The language whose row in the policy has the file's ending.
fn added_language(path: &Path, policy: &SandboxPolicy) -> Option<String> {
    let extension = path.extension()?.to_str()?;
    policy
        .languages
        .iter()
        .find(|(_, row)| {
            row.extensions.iter().any(|known| known.trim_start_matches('.') == extension)
        })
        .map(|(name, _)| name.as_str().to_owned())
}
