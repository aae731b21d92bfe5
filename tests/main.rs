//! Integration tests, by subject.
mod images;
