//! The docker-compatible command line that das drives.

pub mod command;
