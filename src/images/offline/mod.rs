//! Makes an image with no registry, out of this machine's own interpreter.
//!
//! What goes in is the interpreter, its standard library, the shared libraries that they need,
//! a shell with the usual small tools, and a handful of generated files. What stays out: installed
//! packages, caches, everyone's configuration, certificates. The result is a [`Blueprint`], which
//! becomes a tar stream for the engine's `import`; nothing is written to this machine's disk.

mod base;
mod copy;
mod elf;
mod error;
mod filler;
mod libraries;
mod node;
mod python;
mod release;
mod shell;
mod tree;

use std::io::{self, Write};

pub use error::OfflineError;
use filler::Filler;
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

    /// The command that an image runs when it is given none.
    const fn command(self) -> &'static str {
        match self {
            Self::Python => r#"["python"]"#,
            Self::Node => r#"["node"]"#,
            Self::Shell => r#"["sh"]"#,
        }
    }
}

/// A planned image: every entry of its root filesystem and its configuration.
#[derive(Debug, Clone)]
pub struct Blueprint {
    interpreter: Interpreter,
    version: String,
    host: String,
    tree: Tree,
    left_out: Vec<String>,
}

impl Blueprint {
    /// Plans an image for an engine of this architecture (in Docker's or the kernel's words).
    pub fn of(interpreter: Interpreter, engine_architecture: &str) -> Result<Self, OfflineError> {
        release::fits(engine_architecture)?;
        let mut filler = Filler::default();
        base::fill(&mut filler.tree);
        let version = match interpreter {
            Interpreter::Python => python::fill(&mut filler)?,
            Interpreter::Node => node::fill(&mut filler)?,
            Interpreter::Shell => release::id(),
        };
        shell::fill(&mut filler)?;
        let Filler { tree, left_out } = filler;
        Ok(Self { interpreter, version, host: release::name(), tree, left_out })
    }

    /// The local name of the image: no registry has it, and it says what it is.
    pub fn tag(&self) -> String {
        format!("das-offline/{}:{}", self.interpreter.name(), release::plain(&self.version))
    }

    /// What the image is made of, in words.
    pub fn origin(&self) -> String {
        format!("{} {} of {}", self.interpreter.name(), self.version, self.host)
    }

    /// What this machine has or lacks that could not be put in, a line each.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The number of files and directories.
    pub fn entries(&self) -> usize {
        self.tree.len()
    }

    /// The image's configuration, for the engine's `import --change`.
    pub fn changes(&self) -> Vec<String> {
        vec![
            "ENV PATH=/usr/local/bin:/usr/bin:/bin".to_owned(),
            format!("LABEL docker-agent-sandbox.offline=\"{}\"", release::quotable(&self.origin())),
            "USER 65534:65534".to_owned(),
            "WORKDIR /tmp".to_owned(),
            format!("CMD {}", self.interpreter.command()),
        ]
    }

    /// Writes the root filesystem as a tar stream; the same machine gives the same bytes.
    pub fn write_tar(&self, out: &mut dyn Write) -> io::Result<()> {
        self.tree.write_tar(out)
    }
}
