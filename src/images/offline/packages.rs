//! Packages in an offline image, fetched by this machine's own installer as its owner set it up.
//!
//! No code of a package runs here: only built packages are taken, and npm's scripts stay off.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use crate::engine::command::{CommandError, CommandLine, Finished, Input, Talk};

use super::copy;
use super::error::OfflineError;
use super::filler::Filler;
use super::scratch::Scratch;
use super::tree::FileKind;
use crate::images::package::Package;

/// How long an installer may take, its downloads included.
const INSTALL_BOUND: Duration = Duration::from_mins(30);

/// What of pip's answer to a failed install a message shows.
const SHOWN_LINES: usize = 4;

/// Installs packages for Python and adds them where the interpreter in the image looks for them.
pub(super) fn add_pip(
    filler: &mut Filler,
    loader: Option<&Path>,
    at: &Path,
    packages: &[Package],
    talk: Talk,
) -> Result<Scratch, OfflineError> {
    let scratch = scratch()?;
    let mut args: Vec<OsString> = ["-I", "-m", "pip", "install"].map(OsString::from).into();
    args.extend(["--only-binary", ":all:", "--no-compile", "--no-cache-dir"].map(OsString::from));
    args.extend(
        ["--no-input", "--no-warn-script-location", "--no-warn-conflicts", "--target"]
            .map(OsString::from),
    );
    args.push(scratch.path().into());
    args.extend(packages.iter().map(|package| OsString::from(package.as_str())));
    let mut command = CommandLine::new("python3", args);
    // As a variable, because an old pip takes an unknown option for an error.
    command.env.set.push(("PIP_ROOT_USER_ACTION".into(), "ignore".into()));
    install("pip", &command, talk)?;
    compile(scratch.path(), at)?;
    // Scripts at the top name this machine's interpreter in their first line.
    add(filler, loader, at, scratch.path(), &|relative| relative != Path::new("bin"))?;
    Ok(scratch)
}

/// Compiles the modules for the place where they will be, since nothing can be written there:
/// `import pandas` under half a processor takes 2 s so, and 5 s without. Compiled modules that
/// ask for no check do not depend on times, so that the same packages give the same image.
/// A module that cannot be compiled is none that could be imported; it is passed over.
fn compile(modules: &Path, at: &Path) -> Result<(), OfflineError> {
    let mut args: Vec<OsString> =
        ["-I", "-m", "compileall", "-q", "-j", "0"].map(OsString::from).into();
    args.extend(["--invalidation-mode", "unchecked-hash", "-s"].map(OsString::from));
    args.extend([modules.into(), "-p".into(), at.into(), modules.into()]);
    CommandLine::new("python3", args)
        .run(INSTALL_BOUND)
        .map_err(|error| install_error("python3", error))?;
    Ok(())
}

/// Installs packages for Node.js and adds them where it looks from any directory.
pub(super) fn add_npm(
    filler: &mut Filler,
    loader: Option<&Path>,
    packages: &[Package],
    talk: Talk,
) -> Result<Scratch, OfflineError> {
    let scratch = scratch()?;
    let mut args: Vec<OsString> =
        ["install", "--ignore-scripts", "--no-audit", "--no-fund"].map(OsString::from).into();
    args.extend(["--no-save", "--no-package-lock", "--prefix"].map(OsString::from));
    args.push(scratch.path().into());
    args.extend(packages.iter().map(|package| OsString::from(package.as_str())));
    install("npm", &CommandLine::new("npm", args), talk)?;
    let modules = scratch.path().join("node_modules");
    add(filler, loader, Path::new("node_modules"), &modules, &|relative| {
        let name = relative.file_name().unwrap_or_default();
        name != ".bin" && name != ".package-lock.json"
    })?;
    Ok(scratch)
}

fn scratch() -> Result<Scratch, OfflineError> {
    Scratch::new().map_err(|source| OfflineError::Scratch { source })
}

fn install(installer: &'static str, command: &CommandLine, talk: Talk) -> Result<(), OfflineError> {
    let finished = command
        .run_with(Input::Empty, talk, INSTALL_BOUND)
        .map_err(|error| install_error(installer, error))?;
    if finished.success() {
        Ok(())
    } else {
        Err(OfflineError::Install { installer, said: last_lines(&finished) })
    }
}

fn install_error(installer: &'static str, error: CommandError) -> OfflineError {
    match error {
        CommandError::NotFound { program: _ } => OfflineError::NotInstalled { program: installer },
        source @ (CommandError::Spawn { .. }
        | CommandError::TimedOut { .. }
        | CommandError::Stopped { .. }
        | CommandError::Wait { .. }
        | CommandError::Feed { .. }) => OfflineError::Ask { program: installer, source },
    }
}

/// The end of what an installer said, where the reason is.
fn last_lines(finished: &Finished) -> String {
    let said = finished.err();
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

fn add(
    filler: &mut Filler,
    loader: Option<&Path>,
    at: &Path,
    from: &Path,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<(), OfflineError> {
    for file in copy::files(from, wanted)? {
        let place = at.join(&file.relative);
        if is_shared_object(&file.host) {
            filler.carried(loader, &place, &file.host, from)?;
        } else {
            filler.tree.host_file(&place, &file.host, FileKind::Data);
        }
    }
    Ok(())
}

/// `x.so`, `libx.so.1`, `x.node`.
fn is_shared_object(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut parts = name.split('.').skip(1);
    parts.any(|part| part == "so") || path.extension().is_some_and(|ending| ending == "node")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_objects_are_told_by_their_names() {
        for name in ["a.so", "_x.cpython-311-x86_64-linux-gnu.so", "libq.so.0.3", "y.node"] {
            assert!(is_shared_object(Path::new(name)), "{name}");
        }
        for name in ["so", "a.py", "also.txt", "node", "a.sofa"] {
            assert!(!is_shared_object(Path::new(name)), "{name}");
        }
    }
}
