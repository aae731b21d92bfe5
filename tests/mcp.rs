//! `das mcp`, the real program, with a client that speaks lines of JSON and the stand-in engine.

mod calls;
mod config;
mod ending;
mod eras;
mod parked;
mod session;
mod start;
