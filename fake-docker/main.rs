//! The stand-in Docker CLI of the tests.

fn main() {}
