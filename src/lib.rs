//! Runs code that an AI agent wrote in a fresh, hardened, throwaway container.

pub mod cli;
pub mod engine;
pub mod language;
#[cfg_attr(not(test), expect(dead_code, reason = "the command line is not there yet"))]
mod mcp;
pub mod names;
pub mod policy;
