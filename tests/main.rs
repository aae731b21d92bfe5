//! Integration tests, by subject.

mod image_commands;
mod images;
mod mcp;
mod stand_in;
mod support;
