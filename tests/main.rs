//! Integration tests, by subject.

mod audit;
mod environment;
mod examples;
mod explain;
mod image_commands;
mod images;
mod input;
mod mcp;
mod output;
mod packaging;
mod policy_cli;
mod readme;
mod real;
mod stand_in;
mod stop;
mod support;
mod verdicts;
mod work_dir;
