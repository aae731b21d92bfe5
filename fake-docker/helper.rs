//! Processes of the stand-in that are not the CLI: a daemon that goes on when the client is dead,
//! and a grandchild that keeps the client's pipes. They end with the test like all others.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::scenario::{Orphan, Trigger};
use crate::state::State;
use crate::stop::client_has_ended;
use crate::store::{Container, Store};

/// The first argument that makes the program a helper.
pub(crate) const MARK: &str = "__stand-in-helper";

/// What a helper is to do.
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    Hold { until: String },
    Create { container: Box<Container>, after: Trigger, orphan: Orphan },
}

/// Which of the client's pipes a helper inherits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pipes {
    Kept,
    Closed,
}

pub(crate) fn hold_pipes(state: &State, until: &str) -> Result<(), Failure> {
    spawn(state, &Order::Hold { until: until.to_owned() }, Pipes::Kept)
}

pub(crate) fn create_late(
    state: &State,
    container: &Container,
    after: &Trigger,
    orphan: Orphan,
) -> Result<(), Failure> {
    let container = Box::new(container.clone());
    let pending = state.file("pending", &container.name)?;
    spawn(state, &Order::Create { container, after: after.clone(), orphan }, Pipes::Closed)?;
    // For tests: from here on the daemon needs no client.
    state.write(&pending, &())
}

pub(crate) fn main(argv: &[String]) -> ExitCode {
    let [dir, order] = argv else { return ExitCode::FAILURE };
    let Ok(order) = serde_json::from_str(order) else { return ExitCode::FAILURE };
    // Its only failures are the end of the test and of its time.
    match obey(&State::new(PathBuf::from(dir)), &order) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn obey(state: &State, order: &Order) -> Result<(), Failure> {
    match order {
        Order::Hold { until } => state.wait_for(&Trigger::File(until.clone())),
        Order::Create { container, after, orphan } => {
            state.wait_for(after)?;
            let store = Store::new(state);
            if store.create(container)?.is_ok()
                && *orphan == Orphan::Running
                && client_has_ended(container)
            {
                store.start(&container.id)?;
            }
            Ok(())
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the stand-in is no part of the product")]
fn spawn(state: &State, order: &Order, pipes: Pipes) -> Result<(), Failure> {
    let order =
        serde_json::to_string(order).map_err(|error| Failure::unplayed(error.to_string()))?;
    let stdio = || match pipes {
        Pipes::Kept => Stdio::inherit(),
        Pipes::Closed => Stdio::null(),
    };
    let spawned = env::current_exe().and_then(|program| {
        Command::new(program)
            .arg(MARK)
            .arg(state.dir())
            .arg(order)
            .stdin(Stdio::null())
            .stdout(stdio())
            .stderr(stdio())
            // Out of reach of signals to the client's group.
            .process_group(0)
            .spawn()
    });
    spawned.map(drop).map_err(|error: io::Error| state.failure(state.dir(), error))
}
