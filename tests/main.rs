//! Integration tests, by subject.

mod image_commands;
mod images;
mod stand_in;
mod support;
