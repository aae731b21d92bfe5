//! The stand-in Docker CLI behaves as the real one does. The texts and exit codes here are those
//! of the real CLI, 28.2.2 with engine 20.10.24; `like_the_real_one` compares the two.

mod daemon;
mod events;
mod facts;
mod harness;
mod images;
mod input;
mod like_the_real_one;
mod listing;
mod output;
mod start;
mod stop;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::{Cli, StandIn};

/// The container's name in these tests.
const NAME: &str = "das-0123456789abcdef";

const IMAGE: &str = "python:3.12-slim";

/// `docker run` as the product uses it, in short.
fn run(stand_in: &StandIn) -> Cli<'_> {
    run_named(stand_in, NAME)
}

fn run_named<'a>(stand_in: &'a StandIn, name: &str) -> Cli<'a> {
    let flags = ["run", "--rm", "-i", "--name", name, "--pull", "never", "--network", "none"];
    docker(stand_in, &flags).args(["--label", "owner=me", IMAGE, "python", "-I", "-"])
}

fn docker<'a>(stand_in: &'a StandIn, args: &[&str]) -> Cli<'a> {
    Cli::docker(stand_in).args(args.iter().copied())
}

/// `docker kill` that works.
#[track_caller]
fn kill(stand_in: &StandIn) {
    docker(stand_in, &["kill", NAME]).stdout(format!("{NAME}\n")).status(0);
}

/// What `docker run` prints when it fails before the program starts.
fn run_error(text: &str) -> String {
    format!("docker: {text}\n\nRun 'docker run --help' for more information\n")
}

/// The actions that the daemon remembers of the container, oldest first.
fn actions(stand_in: &StandIn) -> Vec<String> {
    let told = events(stand_in).args(["--format", "{{.Action}}"]).output();
    told.stdout_text().lines().map(str::to_owned).collect()
}

/// `docker events` of all that has happened to the container so far.
fn events(stand_in: &StandIn) -> Cli<'_> {
    let filter = format!("container={NAME}");
    docker(stand_in, &["events", "--since", "0", "--until", &now(), "--filter", &filter])
}

/// In seconds since 1970, with a fraction.
fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    format!("{}.{:09}", now.as_secs(), now.subsec_nanos())
}
