//! `das sweep`, and the sweeps of `das run` and `das mcp`.

mod real;
mod stand_in;

use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use docker_agent_sandbox::engine::command::CommandLine;
use docker_agent_sandbox::tag::{EXPIRES_LABEL, LABEL, OWNER_LABEL, Owner, RunTag};

/// A time long ago.
const EXPIRED: &str = "1000000000";

/// A name that a container of das may have.
fn name() -> String {
    RunTag::new(&Owner::Nobody, Duration::ZERO).container().to_string()
}

/// The labels of a container.
fn labels(owner: &str, expires: &str) -> Vec<String> {
    [(LABEL, "1"), (OWNER_LABEL, owner), (EXPIRES_LABEL, expires)]
        .into_iter()
        .flat_map(|(label, value)| ["--label".to_owned(), format!("{label}={value}")])
        .collect()
}

/// A process of this machine and boot.
fn owner(pid: u32, started: u64) -> String {
    let Owner::Process { boot, namespace, .. } = Owner::this_process() else { unreachable!() };
    format!("{boot}.{namespace}.{pid}.{started}")
}

/// A das that has been killed.
fn dead_owner() -> String {
    let line = CommandLine::new("true", [""; 0]);
    let mut child = line.to_command().stdin(Stdio::null()).spawn().expect("a process");
    child.wait().expect("its end");
    owner(child.id(), 1)
}

/// This process, which lives.
fn live_owner() -> String {
    Owner::this_process().to_string()
}

/// A process that has a dead owner's number.
fn reused_owner() -> String {
    let Owner::Process { pid, started, .. } = Owner::this_process() else { unreachable!() };
    owner(pid, started + 1)
}

fn in_an_hour() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    (now.as_secs() + 3600).to_string()
}
