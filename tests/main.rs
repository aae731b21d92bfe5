//! Integration tests, by subject.

mod explain;
mod image_commands;
mod images;
mod mcp;
mod parked;
mod real;
mod run_many;
mod stand_in;
mod support;
mod verdicts;
