//! The command line: one of the two faces of the library.
//!
//! Standard output is data, standard error is talk. What went wrong is printed once, here.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

mod audit;
mod doctor;
mod error;
mod explain;
mod image;
mod mcp;
mod meta;
mod policy;
mod policy_args;
mod record_args;
mod report;
mod run;
mod run_many;
mod signals;
mod source;
mod status;
mod sweep;
mod verify;

pub use error::CliError;

/// Run code that an AI agent wrote in a fresh, hardened, throwaway Docker container.
#[derive(Debug, Parser)]
#[command(
    name = "das",
    version,
    max_term_width = 100,
    after_help = "Examples:\n  \
        echo 'print(sum(range(10)))' | das run -\n  \
        das run job.py --timeout 30 --memory 512\n  \
        das explain\n\n\
        `das help COMMAND` tells more about each command."
)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Explain(Box<explain::ExplainArgs>),
    Verify(Box<verify::VerifyArgs>),
    Policy(Box<policy::PolicyCommand>),
    Mcp(Box<mcp::McpArgs>),
    Image(Box<image::ImageCommand>),
    Audit(Box<audit::AuditCommand>),
    Sweep(sweep::SweepArgs),
    Doctor(Box<doctor::DoctorArgs>),
    Completions(meta::CompletionsArgs),
    Man(meta::ManArgs),
}

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// With this code.
    Code(u8),
    /// By this signal, as if das had never handled it, so that the shell sees a signal's death.
    Signal(i32),
}

/// Runs `das` on this process's arguments.
pub fn main() -> ExitCode {
    let args = match Args::try_parse_from(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    let exit = match args.command {
        Command::Run(args) => args.execute(),
        Command::Explain(args) => args.execute(),
        Command::Verify(args) => args.execute(),
        Command::Policy(args) => args.execute(),
        Command::Mcp(args) => args.execute(),
        Command::Image(args) => args.execute(),
        Command::Audit(args) => args.execute(),
        Command::Sweep(args) => args.execute(),
        Command::Doctor(args) => args.execute(),
        Command::Completions(args) => args.execute(&mut Args::command()),
        Command::Man(args) => args.execute(&Args::command()),
    };
    match exit {
        // A signal ends das as it would have without das, whatever the command did meanwhile.
        Ok(Exit::Code(code)) => signals::received().map_or(ExitCode::from(code), signals::die_of),
        Ok(Exit::Signal(signal)) => signals::die_of(signal),
        Err(error) => error.report(),
    }
}

/// Prints help or a usage error; a closed output is nobody's fault.
fn usage(error: &clap::Error) -> ExitCode {
    error.print().ok();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// The command line's definition, for tests of its help.
pub fn command() -> clap::Command {
    Args::command()
}

/// Parses a command line without running it, for tests of what is accepted.
pub fn parses<I: IntoIterator<Item = T>, T: Into<OsString> + Clone>(args: I) -> bool {
    Args::try_parse_from(args).is_ok()
}
