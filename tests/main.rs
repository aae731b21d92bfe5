//! Integration tests, by subject.

mod examples;
mod explain;
mod image_commands;
mod images;
mod mcp;
mod readme;
mod real;
mod stand_in;
mod support;
mod verdicts;
