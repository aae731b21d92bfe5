//! Integration tests, by subject.

mod stand_in;
mod support;
