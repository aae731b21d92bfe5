//! The walls, the limits and the ends of runs on a real daemon: python, node and shell.
//!
//! `cargo test -- --ignored` runs these. `DAS_INTEGRATION_IMAGE`, `DAS_INTEGRATION_IMAGE_NODE` and
//! `DAS_INTEGRATION_IMAGE_SHELL` name other images than the defaults, which need a registry.

mod daemon;
mod ends;
mod images;
mod inside;
mod limits;
mod parked;
mod walls;
