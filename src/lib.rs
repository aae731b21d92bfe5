//! Runs code that an AI agent wrote in a fresh, hardened, throwaway container.

pub mod audit;
pub mod capture;
pub mod cli;
mod digest;
pub mod engine;
pub mod images;
pub mod language;
mod mcp;
pub mod names;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod pool;
pub mod runner;
pub mod sandbox;
pub mod sanitize;
pub mod sweep;
pub mod tag;
pub mod watchdog;
pub mod work_dir;

pub use outcome::{Outcome, Verdict};
pub use policy::SandboxPolicy;
pub use sandbox::{Request, RunError, Sandbox, run_code};
