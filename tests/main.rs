//! Integration tests, by subject.
