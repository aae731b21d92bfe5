//! One execution, from spawn to evidence: feeds the program, drains its output, watches the
//! deadline, kills, cleans up.
//!
//! It knows an engine and a command line. It does not know policies, command-line arguments or
//! MCP, and it decides nothing about verdicts.

mod cleanup;
mod client;
mod clock;
mod feed;
mod kernel;
mod lifecycle;
mod output;
mod preamble;
mod stop;
mod supervise;

pub use cleanup::Fate;
pub use output::{Live, LiveWriter};
pub use stop::Stopper;
pub use supervise::{Launch, Program, Ran, Unbegun, Waiting};
