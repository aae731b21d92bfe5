//! Integration tests, by subject.

mod explain;
mod images;
mod mcp;
mod stand_in;
mod stop;
mod support;
mod verdicts;
