//! Hands the arguments to the library and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    docker_agent_sandbox::cli::main()
}
