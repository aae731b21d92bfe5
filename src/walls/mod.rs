//! The walls: for each, what builds it, what it stops, what it leaves open, and the probe that
//! proves it.
//!
//! One table. `das explain --why`, `das verify` and the documentation's list of controls all come
//! from it. It does no I/O: what the probes found comes in as a value.

use std::fmt;
use std::str::FromStr;

pub mod evidence;
pub mod facts;
mod judge;
pub mod opened;
pub mod probes;
mod table;

pub use judge::{Fault, Holding, Judgement, REFUSED_CALLS};
pub use table::WALLS;

use evidence::{Evidence, Run};

/// One of the walls around a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wall {
    /// No way out: no address, no name service, no metadata service.
    Network,
    /// The image's files cannot be changed.
    Filesystem,
    /// `/tmp` and `/dev/shm` are small and start no programs.
    Scratch,
    /// Nothing of the host is mounted or exposed.
    Host,
    /// Not root, and cannot become it.
    User,
    /// No part of root's power either.
    Capabilities,
    /// A setuid program gains nothing.
    NewPrivileges,
    /// A filter refuses the system calls that attack the kernel.
    Syscalls,
    /// A bound on memory, swap included.
    Memory,
    /// A share of the processors.
    Cpu,
    /// A bound on processes and threads.
    Pids,
    /// A bound on open files.
    Descriptors,
    /// A crash writes nothing.
    CoreDumps,
    /// The deadline.
    Time,
    /// A bound on what is kept of the output; the host's disk gets none of it.
    Output,
    /// Nothing of the host's environment.
    Environment,
    /// One container for one run, and nothing left of it.
    Lifetime,
    /// Only its own processes, and no other container.
    Isolation,
}

/// One row of the table. A wall that lacks any of this does not compile.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The wall.
    pub wall: Wall,
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// What it stops, in one plain sentence.
    pub stops: &'static str,
    /// What it leaves open, in one plain sentence.
    pub open: &'static str,
    /// What `docker run -i IMAGE` would have allowed instead.
    pub plain: &'static str,
    /// The flags that build it.
    pub flags: &'static [Flag],
    /// What das itself does to build it, where flags alone do not.
    pub mechanism: Option<&'static str>,
    /// The probe that proves it.
    pub probe: Probe,
}

/// A flag of the command line.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// How its line begins, such as `--ulimit core=`.
    pub starts: &'static str,
    /// What it does, in a few words.
    pub does: &'static str,
}

/// What is run to see a wall, and how that is judged.
#[derive(Clone, Copy)]
pub struct Probe {
    /// The runs that tell.
    pub runs: &'static [Run],
    /// Judges what they told.
    pub judge: fn(&Evidence) -> Judgement,
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("runs", &self.runs).finish_non_exhaustive()
    }
}

impl Wall {
    /// Its row of the table.
    pub fn row(self) -> &'static Row {
        let row = WALLS.iter().find(|row| row.wall == self);
        row.expect("every wall has its row")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The flag of this wall that a line of the command line is.
    pub fn flag(self, words: &[String]) -> Option<&'static Flag> {
        let line = words.join(" ");
        let fitting = self.row().flags.iter().filter(|flag| flag.fits(&line));
        fitting.max_by_key(|flag| flag.starts.len())
    }
}

impl Flag {
    fn fits(&self, line: &str) -> bool {
        line.strip_prefix(self.starts).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with([' ', '=']) || self.starts.ends_with('=')
        })
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no wall has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no wall `{name}`, only {}", names().join(", "))]
pub struct NoSuchWall {
    /// What was given.
    pub name: String,
}

impl FromStr for Wall {
    type Err = NoSuchWall;

    fn from_str(name: &str) -> Result<Self, NoSuchWall> {
        let row = WALLS.iter().find(|row| row.name == name);
        row.map(|row| row.wall).ok_or_else(|| NoSuchWall { name: name.to_owned() })
    }
}

/// The names of all walls, in the order of the table.
pub fn names() -> Vec<&'static str> {
    WALLS.iter().map(|row| row.name).collect()
}

/// The documentation's table of controls, in Markdown.
pub fn controls() -> String {
    let heading =
        "| wall | built by | what it stops | what it leaves open |\n|---|---|---|---|\n".to_owned();
    WALLS.iter().fold(heading, |table, row| table + &control(row))
}

fn control(row: &Row) -> String {
    let Row { wall: _, name, stops, open, plain: _, flags, mechanism, probe: _ } = row;
    let flags = flags.iter().map(|flag| format!("`{}`", flag.starts.trim_end_matches('=')));
    let mechanism = mechanism.map(|text| format!("das {text}"));
    let built: Vec<String> = flags.chain(mechanism).collect();
    format!("| `{name}` | {} | {stops} | {open} |\n", built.join(", "))
}

#[cfg(test)]
mod tests;
