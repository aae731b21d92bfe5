//! Integration tests, by subject.

mod images;
mod mcp;
mod real;
mod stand_in;
mod support;
