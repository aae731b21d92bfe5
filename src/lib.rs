//! Runs code that an AI agent wrote in a fresh, hardened, throwaway container.

pub mod cli;
pub mod engine;
pub mod language;
pub mod names;
pub mod policy;
