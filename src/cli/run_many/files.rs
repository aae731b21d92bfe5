//! Which programs `das run` is to run, where it is given more than one file or a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::CliError;
use crate::cli::source;
use crate::policy::SandboxPolicy;

/// Every file that was named, in that order, and in the place of each directory the programs in
/// it, sorted.
pub(super) fn expand(paths: &[PathBuf], policy: &SandboxPolicy) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            return Err(CliError::StdinAmongFiles);
        }
        if path.is_dir() {
            files.extend(programs_in(path, policy)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// Files whose ending tells their language, but hidden ones; what is deeper is not looked at.
fn programs_in(dir: &Path, policy: &SandboxPolicy) -> Result<Vec<PathBuf>, CliError> {
    let read = |source: io::Error| CliError::Read { path: dir.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(read)? {
        let path = entry.map_err(read)?.path();
        let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.is_file() && source::language_of_name(&path, policy).is_some() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(CliError::NoPrograms { dir: dir.to_owned() });
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path, policy: &str) -> Result<Vec<String>, String> {
        let policy = SandboxPolicy::from_json(policy).unwrap();
        let files = expand(&[dir.to_owned()], &policy).map_err(|error| error.to_string())?;
        let name = |file: PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
        Ok(files.into_iter().map(name).collect())
    }

    #[test]
    fn a_directory_stands_for_its_programs_sorted_and_for_nothing_else_in_it() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.py", "a.js", ".hidden.py", "notes.txt", "run", "c.rb", "z.sh"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("deeper.py")).unwrap();
        assert_eq!(names(dir.path(), "{}").unwrap(), ["a.js", "b.py", "z.sh"]);
        let ruby = r#"{"languages": {"ruby": {"image": "ruby", "command": ["ruby", "-"], "extensions": ["rb"]}}}"#;
        assert_eq!(names(dir.path(), ruby).unwrap(), ["a.js", "b.py", "c.rb", "z.sh"]);
    }

    #[test]
    fn a_directory_without_programs_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("notes.txt"), "").unwrap();
        assert!(names(dir.path(), "{}").unwrap_err().starts_with("no program is in"));
    }
}
