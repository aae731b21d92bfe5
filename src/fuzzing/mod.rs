//! What is tried on each surface that takes bytes from outside: a function for each, which panics
//! where a property of the surface does not hold for its input.
//!
//! It is compiled for fuzzers and for tests alone, and looks at nothing but its input.

mod capture;
mod engine_events;
mod image_reference;
mod policy;
mod schema;
mod shell;
#[cfg(test)]
mod tests;

pub use crate::mcp::fuzzing::rpc_line;
pub use capture::capture;
pub use engine_events::engine_events;
pub use image_reference::image_reference;
pub use policy::policy;
