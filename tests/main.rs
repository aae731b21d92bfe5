//! Integration tests, by subject.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod audit_chain;
mod docs;
mod doctor;
mod environment;
mod examples;
mod explain;
mod help;
mod hostile;
mod image_commands;
mod images;
mod input;
mod mcp;
mod output;
mod packaging;
mod parked;
mod podman;
mod policy_cli;
mod readme;
mod real;
mod run_many;
mod runsc;
mod scarce;
mod seccomp;
mod security;
mod stand_in;
mod stop;
mod support;
mod sweep;
mod tidy;
mod traps;
mod verdicts;
mod verify;
mod work_dir;
