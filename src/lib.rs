//! Runs code that an AI agent wrote in a fresh, hardened, throwaway container, and tells the truth
//! about what happened.
//!
//! There is one way through the house:
//!
//! ```text
//! arguments, policy file, MCP params
//!    -> SandboxPolicy    every limit, its default and its range
//!    -> CheckedPolicy    the same, checked once, then trusted
//!    -> Plan             what one run was granted; made by the checked policy alone
//!    -> Argv             pure: (engine facts, plan, run tag) -> the exact command line
//!    -> runner           spawn, feed, drain both pipes, watch the deadline, kill, clean up
//!    -> Outcome          what happened, decided in one place from what das did and the engine saw
//!    -> renderers        terminal, JSON, audit line, MCP result: pure functions of the outcome
//! ```
//!
//! The program `das` and the MCP server are two thin faces of this library. For one program:
//!
//! ```no_run
//! use docker_agent_sandbox::{SandboxPolicy, Verdict, run_code};
//!
//! let policy = SandboxPolicy { timeout_seconds: 3.0, ..SandboxPolicy::default() };
//! let outcome = run_code("print(2 ** 64)", &policy)?;
//! assert_eq!(outcome.verdict, Verdict::Success);
//! assert_eq!(outcome.stdout.text(), "18446744073709551616\n");
//! # Ok::<(), docker_agent_sandbox::RunError>(())
//! ```
//!
//! For many, in any language of the policy, from any number of threads, with containers kept ready:
//!
//! ```no_run
//! use docker_agent_sandbox::{Request, Sandbox, SandboxPolicy};
//!
//! let sandbox = Sandbox::new(SandboxPolicy::default())?.with_parked_containers();
//! let outcome = sandbox.run(Request::new("node", b"console.log(6 * 7)"))?;
//! println!("{:?}: {}", outcome.verdict, outcome.stdout.text());
//! # Ok::<(), docker_agent_sandbox::RunError>(())
//! ```
//!
//! The library prints nothing, ends no process and handles no signals. A program that fails is an
//! [`Outcome`], and so is an engine that does; an error means that nothing has run.

pub mod audit;
pub mod capture;
pub mod cli;
mod digest;
pub mod doctor;
pub mod engine;
#[cfg(any(fuzzing, test))]
#[doc(hidden)]
pub mod fuzzing;
pub mod images;
pub mod junit;
pub mod language;
pub mod lesson;
mod mcp;
pub mod names;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod pool;
pub mod runner;
pub mod sandbox;
pub mod sanitize;
pub mod seccomp;
pub mod sweep;
pub mod tag;
mod threads;
pub mod verify;
pub mod walls;
pub mod watchdog;
pub mod work_dir;
mod wrap;

pub use outcome::{Outcome, Verdict};
pub use policy::SandboxPolicy;
pub use sandbox::{Request, RunError, Sandbox, run_code};
