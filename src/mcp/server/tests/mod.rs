//! The server with a client in the same process.

mod batches;
mod client;
mod ending;
mod input;
mod progress;
mod running;
