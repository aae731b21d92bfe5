//! The command line.

use std::process::ExitCode;

/// Runs `das`.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
