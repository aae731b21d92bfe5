//! `das mcp`: the sandbox as a tool of MCP clients, over stdin and stdout.
//!
//! [`rpc`] reads and writes messages, [`protocol`] decides what each is answered, [`tool`] is
//! what can be called, [`server`] does it all at once. None of it knows Docker.

mod protocol;
mod rpc;
mod server;
mod text;
mod tool;
