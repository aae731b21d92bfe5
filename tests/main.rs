//! Integration tests, by subject.

mod mcp;
mod stand_in;
mod support;
