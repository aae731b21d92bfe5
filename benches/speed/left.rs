//! Counts what the measurement has left behind.

use std::thread;
use std::time::{Duration, Instant};

use docker_agent_sandbox::engine::command::CommandLine;

use crate::process;

/// How the containers of the bare `docker run` are called.
pub(crate) const BARE: &str = "das-bench-";

/// How long the daemon may take to remove what has ended.
const BOUND: Duration = Duration::from_secs(10);

/// The containers of all that was started here, once the daemon has had its time.
pub(crate) fn containers() -> Vec<String> {
    let until = Instant::now() + BOUND;
    loop {
        let left = list();
        if left.is_empty() || Instant::now() >= until {
            return left;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn list() -> Vec<String> {
    let format = "{{.Names}} {{.Label \"docker-agent-sandbox.owner\"}}";
    let args = ["ps", "--all", "--format", format];
    let listed = process::output(CommandLine::new("docker", args).to_command());
    let mut pids = process::started();
    pids.push(std::process::id());
    let ours = |line: &&str| {
        let owner =
            line.split_once(' ').and_then(|(_, owner)| owner.split('.').nth(1)?.parse().ok());
        line.starts_with(BARE) || owner.is_some_and(|owner: u32| pids.contains(&owner))
    };
    listed.lines().filter(ours).map(str::to_owned).collect()
}
