//! Integration tests, by subject.

mod doctor;
mod explain;
mod image_commands;
mod images;
mod mcp;
mod packaging;
mod podman;
mod real;
mod runsc;
mod seccomp;
mod stand_in;
mod stop;
mod support;
mod verdicts;
