//! Integration tests, by subject.

mod images;
mod stand_in;
mod support;
