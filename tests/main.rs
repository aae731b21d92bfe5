//! Integration tests, by subject.

mod images;
mod real;
mod stand_in;
mod support;
