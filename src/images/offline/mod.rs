//! Makes an image with no registry, out of this machine's own interpreter.
//!
//! What goes in is the interpreter, its standard library, the shared libraries that they need,
//! a shell with the usual small tools, and a handful of generated files. What stays out: installed
//! packages, caches, everyone's configuration, certificates. The result is a [`Blueprint`], which
//! becomes a tar stream for the engine's `import`; nothing is written to this machine's disk.

mod ask;
mod base;
mod copy;
mod elf;
mod error;
mod filler;
mod libraries;
mod node;
mod packages;
mod python;
mod release;
mod scratch;
mod shell;
mod stdlib;
mod tree;

use std::io::{self, Write};

use super::inspect::{BAKED_LABEL, OFFLINE_LABEL};
use super::package::Package;
use super::tags;
use crate::engine::command::Talk;
use crate::names::ImageRef;
pub use error::OfflineError;
use filler::Filler;
use scratch::Scratch;
use tree::Tree;

/// A language whose interpreter das can carry from this machine into an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpreter {
    /// `CPython`, found as `python3`.
    Python,
    /// Node.js, found as `node`.
    Node,
    /// The shell, found as `sh`.
    Shell,
}

impl Interpreter {
    /// The interpreter of the language of this name.
    pub fn of(language: &str) -> Option<Self> {
        [Self::Python, Self::Node, Self::Shell].into_iter().find(|known| known.name() == language)
    }

    /// The name of its language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Shell => "shell",
        }
    }

    /// The program that an image runs when it is given none.
    const fn command(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Shell => "sh",
        }
    }
}

/// What is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The interpreter.
    pub interpreter: Interpreter,
    /// What this machine's installer shall add to it.
    pub packages: &'a [Package],
    /// Where the installer's own words go.
    pub talk: Talk,
}

/// A planned image: every entry of its root filesystem and its configuration.
#[derive(Debug)]
pub struct Blueprint {
    interpreter: Interpreter,
    version: String,
    packages: Vec<Package>,
    host: String,
    tree: Tree,
    left_out: Vec<String>,
    /// Holds the files of packages until they have been streamed.
    _scratch: Option<Scratch>,
}

impl Blueprint {
    /// Plans an image for an engine of this architecture (in Docker's or the kernel's words).
    pub fn of(order: Order<'_>, engine_architecture: &str) -> Result<Self, OfflineError> {
        release::fits(engine_architecture)?;
        let mut filler = Filler::default();
        base::fill(&mut filler.tree);
        let (version, scratch) = fill(&mut filler, order)?;
        shell::fill(&mut filler)?;
        Ok(Self {
            interpreter: order.interpreter,
            version,
            packages: order.packages.to_vec(),
            host: release::name(),
            tree: filler.tree,
            left_out: filler.left_out,
            _scratch: scratch,
        })
    }

    /// The local name of the image: no registry has it, and it says what it is.
    pub fn tag(&self) -> ImageRef {
        if self.packages.is_empty() {
            tags::offline(self.interpreter, &self.version)
        } else {
            tags::baked(self.interpreter, &self.origin(), &self.packages)
        }
    }

    /// What the interpreter in the image is and where it comes from, in words.
    pub fn origin(&self) -> String {
        match self.interpreter {
            Interpreter::Python | Interpreter::Node => {
                format!("{} {} on {}", self.interpreter.name(), self.version, self.host)
            }
            Interpreter::Shell => format!("the shell and tools of {}", self.host),
        }
    }

    /// What this machine lacks and the image therefore too, a line each.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The number of files and directories.
    pub fn entries(&self) -> usize {
        self.tree.len()
    }

    /// The image's configuration, for the engine's `import --change`.
    pub fn changes(&self) -> Vec<String> {
        let mut changes = vec![
            "ENV PATH=/usr/local/bin:/usr/bin:/bin".to_owned(),
            format!("LABEL {OFFLINE_LABEL}=\"{}\"", release::quotable(&self.origin())),
            "USER 65534:65534".to_owned(),
            "WORKDIR /tmp".to_owned(),
            format!("CMD [\"{}\"]", self.interpreter.command()),
        ];
        if !self.packages.is_empty() {
            let baked = tags::description(&release::quotable(&self.origin()), &self.packages);
            changes.push(format!("LABEL {BAKED_LABEL}=\"{baked}\""));
        }
        changes
    }

    /// Writes the root filesystem as a tar stream; the same machine gives the same bytes.
    pub fn write_tar(&self, out: &mut dyn Write) -> io::Result<()> {
        self.tree.write_tar(out)
    }
}

/// Adds the interpreter with its packages; tells its version and what holds the packages.
fn fill(filler: &mut Filler, order: Order<'_>) -> Result<(String, Option<Scratch>), OfflineError> {
    let Order { interpreter, packages, talk } = order;
    let wanted = (!packages.is_empty()).then_some(packages);
    match interpreter {
        Interpreter::Python => {
            let python = python::fill(filler)?;
            let loader = python.loader.as_deref();
            let add =
                |packages| packages::add_pip(filler, loader, &python.packages, packages, talk);
            let scratch = wanted.map(add).transpose()?;
            Ok((python.version, scratch))
        }
        Interpreter::Node => {
            let node = node::fill(filler)?;
            let loader = node.loader.as_deref();
            let add = |packages| packages::add_npm(filler, loader, packages, talk);
            let scratch = wanted.map(add).transpose()?;
            Ok((node.version, scratch))
        }
        Interpreter::Shell if wanted.is_some() => Err(OfflineError::NoPackages),
        Interpreter::Shell => Ok((release::id(), None)),
    }
}
