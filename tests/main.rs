//! Integration tests, by subject.

mod audit;
mod audit_chain;
mod doctor;
mod environment;
mod examples;
mod explain;
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
mod seccomp;
mod stand_in;
mod stop;
mod support;
mod sweep;
mod verdicts;
mod work_dir;
