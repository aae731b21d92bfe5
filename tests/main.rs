//! Integration tests, by subject.

mod examples;
mod audit;
mod environment;
mod explain;
mod image_commands;
mod images;
mod input;
mod mcp;
mod output;
mod packaging;
mod readme;
mod policy_cli;
mod real;
mod stand_in;
mod stop;
mod support;
mod verdicts;
mod work_dir;
