//! Integration tests, by subject.

mod examples;
mod explain;
mod image_commands;
mod images;
mod mcp;
mod output;
mod packaging;
mod readme;
mod real;
mod stand_in;
mod stop;
mod support;
mod verdicts;
