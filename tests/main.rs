//! Integration tests, by subject.

mod explain;
mod image_commands;
mod images;
mod mcp;
mod packaging;
mod parked;
mod real;
mod run_many;
mod stand_in;
mod stop;
mod support;
mod verdicts;
