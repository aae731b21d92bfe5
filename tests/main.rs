//! Integration tests, by subject.

mod explain;
mod stand_in;
mod support;
mod verdicts;
