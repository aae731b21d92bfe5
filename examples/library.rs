//! Runs a Python program from Rust:
//!
//! ```text
//! cargo run --example library [POLICY.json]
//! ```
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::{env, fs};

use docker_agent_sandbox::{SandboxPolicy, run_code};

fn main() -> Result<(), Box<dyn Error>> {
    let policy = match env::args().nth(1) {
        Some(path) => SandboxPolicy::from_json(&fs::read_to_string(path)?)?,
        None => SandboxPolicy::default(),
    };
    let policy = SandboxPolicy { timeout_seconds: 30.0, ..policy };
    let outcome = run_code("print(2 ** 64)", &policy)?;
    println!("{}: {}", outcome.verdict.name(), outcome.stdout.text().trim_end());
    Ok(())
}
