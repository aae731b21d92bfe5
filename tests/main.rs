//! Integration tests, by subject.

mod doctor;
mod explain;
mod image_commands;
mod images;
mod mcp;
mod podman;
mod real;
mod stand_in;
mod support;
mod verdicts;
