//! The probes: small programs, one for each language, that try the walls from inside.
//!
//! A probe is given a run and its numbers, and prints what it tried and what the kernel answered.
//! It judges nothing.

use super::evidence::{Promised, Run};
use crate::language;

const PYTHON: &str = include_str!("probe.py");
const NODE: &str = include_str!("probe.js");
const SHELL: &str = include_str!("probe.sh");

/// Beyond this no run fills memory: it would take long, and it is the machine's that is filled.
const MOST_FILLED_MB: u64 = 2048;

/// Beyond this no fork bomb is started.
const MOST_FORKED: u64 = 512;

/// The most files that a probe opens.
const MOST_OPENED: u64 = 65_536;

/// The most bytes that a probe prints beyond the limit of the output.
const PRINTED_BEYOND: u64 = 256 * 1024;

/// Where programs may write, and so could leave something.
const PLACES: [&str; 3] = ["/tmp", "/dev/shm", "/dev/mqueue"];

/// A language that has probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Python 3.9 or newer.
    Python,
    /// Node.js 18 or newer.
    Node,
    /// Any POSIX shell, without any other program.
    Shell,
}

impl Family {
    /// The probes for a language of this name or alias.
    pub fn of(language: &str) -> Option<Self> {
        match language::canonical_name(language).as_str() {
            "python" => Some(Self::Python),
            "node" => Some(Self::Node),
            "shell" => Some(Self::Shell),
            _ => None,
        }
    }
}

/// Which part of a run a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it, or the one that looks around.
    Main,
    /// The container beside it that is looked for.
    Peer,
}

/// Why a run does harm under this policy, if it does: then only the limit itself is read.
pub fn harm(run: Run, promised: &Promised) -> Option<String> {
    match run {
        Run::Memory if promised.memory_mb > MOST_FILLED_MB => {
            Some(format!("more than {MOST_FILLED_MB} MiB"))
        }
        Run::Pids if promised.pids > MOST_FORKED => Some(format!("more than {MOST_FORKED}")),
        Run::Memory
        | Run::Pids
        | Run::Facts
        | Run::Cpu
        | Run::Time
        | Run::Output
        | Run::Leave
        | Run::Look
        | Run::Peers => None,
    }
}

/// The program of a run.
pub fn program(family: Family, run: Run, part: Part, promised: &Promised, nonce: &str) -> String {
    let told = Told::new(run, part, promised, nonce);
    match family {
        Family::Python => format!("DAS = {}\n{PYTHON}", told.json()),
        Family::Node => format!("const DAS = {};\n{NODE}", told.json()),
        Family::Shell => format!("{}\n{SHELL}", told.assignments()),
    }
}

/// What a probe is told.
struct Told<'a> {
    nonce: &'a str,
    run: &'static str,
    numbers: [(&'static str, u64); 8],
}

impl<'a> Told<'a> {
    fn new(run: Run, part: Part, promised: &Promised, nonce: &'a str) -> Self {
        // A /tmp that takes more than half of the memory cannot be filled without a kill.
        let fill =
            if promised.tmpfs_mb * 2 <= promised.memory_mb { promised.tmpfs_mb + 1 } else { 0 };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a policy allows 0.05 to 512 processors"
        )]
        let burners = (promised.cpus.ceil() as u64 + 1).min(8);
        Self {
            nonce,
            run: name(run, part),
            numbers: [
                ("fill_mb", fill),
                ("nofile", promised.nofile.min(MOST_OPENED)),
                ("bomb", promised.pids + 8),
                ("burners", burners.min(promised.pids / 4)),
                ("memory_mb", promised.memory_mb),
                ("hog_mb", promised.memory_mb + promised.memory_mb / 4 + 64),
                ("print_bytes", promised.output_bytes + PRINTED_BEYOND),
                ("port", port(nonce)),
            ],
        }
    }

    /// An object that is the same in JSON, Python and JavaScript.
    fn json(&self) -> String {
        let mut object = serde_json::json!({
            "nonce": self.nonce, "run": self.run, "places": PLACES,
        });
        for (name, number) in self.numbers {
            object[name] = number.into();
        }
        object.to_string()
    }

    fn assignments(&self) -> String {
        let numbers = self.numbers.iter().map(|(name, number)| format!("das_{name}={number}"));
        let mut lines = vec![format!("das_nonce={}", self.nonce), format!("das_run={}", self.run)];
        lines.extend(numbers);
        lines.push(format!("das_places='{}'", PLACES.join(" ")));
        lines.join("\n")
    }
}

fn name(run: Run, part: Part) -> &'static str {
    match (run, part) {
        (Run::Facts, _) => "facts",
        (Run::Cpu, _) => "cpu",
        (Run::Memory, _) => "memory",
        (Run::Pids, _) => "pids",
        (Run::Time, _) => "time",
        (Run::Output, _) => "output",
        (Run::Leave, _) => "leave",
        (Run::Look, _) => "look",
        (Run::Peers, Part::Peer) => "hold",
        (Run::Peers, Part::Main) => "peer",
    }
}

/// A port of its own for each run, out of the nonce's digits.
fn port(nonce: &str) -> u64 {
    let sum = nonce.bytes().fold(0u64, |sum, byte| (sum * 31 + u64::from(byte)) % 20_000);
    30_000 + sum
}
