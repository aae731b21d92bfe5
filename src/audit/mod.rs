//! The audit log: one JSON line for each run, written whole, by any number of processes at once,
//! each line tied to the one before it.
//!
//! It knows what a record says. The program itself is kept nowhere, only its SHA-256.

mod chain;
mod entry;
mod lines;
mod log;
mod record;
mod verify;

pub use entry::{Entry, Filter, Kept, select};
pub use log::{AuditError, AuditLog, Pending};
pub use verify::{Fault, Findings, Verifier};
