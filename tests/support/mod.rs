//! What the integration tests stand on: the stand-in Docker CLI with its scenarios, the programs
//! as a user calls them, and the real daemon for the tests that need one.

mod cli;
mod in_process;
mod language;
#[path = "../../fake-docker/scenario.rs"]
mod plain;
mod process;
mod real;
#[path = "../../fake-docker/record.rs"]
mod record;
mod redact;
mod scenario;
mod second_daemon;
mod stand_in;
mod terminal;
mod wait;

pub(crate) use cli::{Cli, Das, Place};
pub(crate) use in_process::InProcess;
pub(crate) use language::Language;
pub(crate) use plain::{
    Amount, Answer, Daemon, Events, Listing, Load, Orphan, Pull, PullFailure, Stop, Stream, Trigger,
};
pub(crate) use process::{Finished, Pipe, Running};
pub(crate) use real::{Change, Real};
pub(crate) use record::{Ended, Tar};
pub(crate) use redact::redact;
pub(crate) use scenario::Scenario;
pub(crate) use second_daemon::SecondDaemon;
pub(crate) use stand_in::{Call, StandIn};
pub(crate) use wait::eventually;
