//! The stand-in Docker CLI of the tests: it plays what `scenario.json` beside it says, with the
//! texts and exit codes of the real CLI, and writes down how it was called.

mod args;
mod call;
mod client;
mod containers;
mod context;
mod daemon;
mod event;
mod events;
mod facts;
mod failure;
mod helper;
mod images;
mod journal;
mod load;
mod program;
mod pull;
mod record;
mod run;
mod scenario;
mod sink;
mod state;
mod stop;
mod store;
mod template;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use rustix::process::{Signal, getpid, kill_process};

use call::{Call, End};
use failure::Failure;
use record::Ended;
use state::State;

/// The exit code for what the stand-in does not play. Docker never exits with it.
const UNPLAYED: u8 = 64;

fn main() -> ExitCode {
    let argv: Result<Vec<String>, _> = env::args_os().skip(1).map(OsString::into_string).collect();
    let Ok(argv) = argv else { return complain("an argument is not UTF-8") };
    if let Some((helper::MARK, order)) =
        argv.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        return helper::main(order);
    }
    let name = env::args_os().next().unwrap_or_default();
    match State::of_program(&name, env::var_os("PATH").as_deref()) {
        Some(state) => play(&state, &argv),
        None => complain("the program's own directory is unknown"),
    }
}

fn play(state: &State, argv: &[String]) -> ExitCode {
    state.guard();
    let played = Call::open(state, argv).map(|mut call| (call.play(), call));
    match played {
        Err(failure) => complain(&failure.to_string()),
        Ok((Err(failure), call)) => fail(&failure, argv, call),
        Ok((Ok(End::Exit(code)), call)) => match call.close(Ended::Exit(code)) {
            Ok(()) => ExitCode::from(code),
            Err(failure) => complain(&failure.to_string()),
        },
        Ok((Ok(End::Signal(signal)), call)) => match call.close(Ended::Signal(signal.as_raw())) {
            Ok(()) => die(signal),
            Err(failure) => complain(&failure.to_string()),
        },
    }
}

fn fail(failure: &Failure, argv: &[String], call: Call) -> ExitCode {
    if let Failure::Vanished(_) = failure {
        return ExitCode::from(UNPLAYED);
    }
    let text = format!("`docker {}`: {failure}", argv.join(" "));
    match call.close(Ended::Unplayed(text.clone())) {
        Ok(()) => complain(&text),
        Err(second) => complain(&format!("{text}; {second}")),
    }
}

/// Dies as a process dies that does not handle the signal.
fn die(signal: Signal) -> ExitCode {
    let died = match signal {
        Signal::KILL => kill_process(getpid(), signal).map_err(io::Error::from),
        other => signal_hook::low_level::emulate_default_handler(other.as_raw()),
    };
    complain(&format!("still alive after {signal:?}: {died:?}"))
}

fn complain(text: &str) -> ExitCode {
    // Nothing is left to tell a failure to.
    drop(writeln!(io::stderr(), "fake-docker: {text}"));
    ExitCode::from(UNPLAYED)
}
