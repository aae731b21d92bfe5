//! Integration tests, by subject.

mod image_commands;
mod explain;
mod images;
mod mcp;
mod real;
mod stand_in;
mod support;
mod verdicts;
