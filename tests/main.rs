//! Integration tests, by subject.

mod images;
mod mcp;
mod stand_in;
mod support;
