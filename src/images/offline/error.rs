//! What can go wrong while an image is planned from this machine's own files.

use std::io;
use std::path::PathBuf;

use crate::engine::command::CommandError;

/// Why no image could be made out of this machine's own interpreter.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// Containers run Linux programs; this machine has none to give.
    #[error("an offline build needs a Linux machine, and this one runs `{os}`")]
    NotLinux {
        /// The operating system that das was built for.
        os: &'static str,
    },
    /// The engine runs elsewhere, on another kind of processor.
    #[error("this machine is `{machine}`, and the engine runs on `{engine}`")]
    Architecture {
        /// This machine's architecture.
        machine: String,
        /// The engine's architecture.
        engine: String,
    },
    /// The interpreter or tool is not installed.
    #[error("this machine has no `{program}`")]
    NotInstalled {
        /// The program that was looked for.
        program: &'static str,
    },
    /// A program of this machine could not be asked about itself.
    #[error("cannot ask `{program}` about itself")]
    Ask {
        /// The program.
        program: &'static str,
        /// What went wrong.
        source: CommandError,
    },
    /// A program of this machine gave an answer that das does not understand.
    #[error("`{program}` gave no usable answer about itself: {answer}")]
    Answer {
        /// The program.
        program: &'static str,
        /// What it said, cut.
        answer: String,
    },
    /// The interpreter is of a kind that das cannot carry.
    #[error("`{program}` is {found}; only {wanted} can be put into an image")]
    Unsupported {
        /// The program.
        program: &'static str,
        /// What it is.
        found: String,
        /// What it would have to be.
        wanted: &'static str,
    },
    /// A file of this machine could not be looked at.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The dynamic loader could not list what a program needs.
    #[error("cannot list the shared libraries of `{}`", path.display())]
    List {
        /// The program or library.
        path: PathBuf,
        /// What went wrong.
        source: CommandError,
    },
    /// A program that the image cannot do without lacks a library on this very machine.
    #[error("`{}` needs `{library}`, which this machine lacks", path.display())]
    MissingLibrary {
        /// The program.
        path: PathBuf,
        /// The name of the library.
        library: String,
    },
    /// There is no room for the packages of an image in the making.
    #[error("cannot make a temporary directory")]
    Scratch {
        /// What the system said.
        source: io::Error,
    },
    /// This machine's installer could not get the packages.
    #[error(
        "`{installer}` could not install the packages: {}",
        if said.is_empty() { "see above" } else { said }
    )]
    Install {
        /// The installer.
        installer: &'static str,
        /// The end of what it said; empty if a person has already seen it.
        said: String,
    },
    /// A shell's packages are programs of a distribution, which no installer puts elsewhere.
    #[error("packages cannot be added to a shell image that is made from this machine's own tools")]
    NoPackages,
}
