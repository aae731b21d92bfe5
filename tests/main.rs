//! Integration tests, by subject.

mod audit;
mod explain;
mod image_commands;
mod images;
mod mcp;
mod packaging;
mod real;
mod stand_in;
mod stop;
mod support;
mod sweep;
mod verdicts;
