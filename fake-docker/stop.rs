//! `kill` and `rm`.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::args::{Flags, Order};
use crate::call::Call;
use crate::failure::Failure;
use crate::scenario::{Answer, Stop};
use crate::store::{Container, Phase};

const KILL: Flags = Flags { switches: &[], valued: &["--signal"], aliases: &[("-s", "--signal")] };
const RM: Flags = Flags {
    switches: &["--force", "--volumes"],
    valued: &[],
    aliases: &[("-f", "--force"), ("-v", "--volumes")],
};

/// What the daemon makes of one container's name.
type Verdict = Result<(), Refused>;

/// Why the daemon does not do it, and whether the CLI minds.
struct Refused {
    text: String,
    exit: u8,
}

pub(crate) fn kill(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let args = KILL.parse(Order::Mixed, words)?;
    if !matches!(args.value("--signal"), None | Some("KILL" | "SIGKILL" | "9")) {
        return Err(Failure::unplayed("a signal other than KILL"));
    }
    let request = format!("Post /v1.50/containers/{}/kill", args.operands.join("/"));
    if let Some(answer) = call.reach_daemon(&request)? {
        return Ok(answer);
    }
    let stop = call.behaviour(&call.scenario.kill);
    each(call, &args.operands, &stop, kill_one)
}

pub(crate) fn rm(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let args = RM.parse(Order::Mixed, words)?;
    let request = format!("Delete /v1.50/containers/{}?force=1", args.operands.join("/"));
    if let Some(answer) = call.reach_daemon(&request)? {
        return Ok(answer);
    }
    let stop = call.behaviour(&call.scenario.rm);
    let act = if args.has("--force") { force_remove_one } else { remove_one };
    each(call, &args.operands, &stop, act)
}

type Act = fn(&Call, &str) -> Result<Verdict, Failure>;

fn each(call: &Call, names: &[String], stop: &Stop, act: Act) -> Result<Answer, Failure> {
    if names.is_empty() {
        return Err(Failure::unplayed("no container is named"));
    }
    if let Stop::Answers(answer) = stop {
        return Ok(answer.clone());
    }
    let mut answer = Answer::default();
    for name in names {
        match one(call, name, stop, act)? {
            Ok(()) => answer.stdout.extend([name, "\n"]),
            Err(refused) => {
                answer.stderr.extend(["Error response from daemon: ", &refused.text, "\n"]);
                answer.exit = answer.exit.max(refused.exit);
            }
        }
    }
    Ok(answer)
}

fn one(call: &Call, name: &str, stop: &Stop, act: Act) -> Result<Verdict, Failure> {
    match stop {
        Stop::Works | Stop::Answers(_) => act(call, name),
        Stop::After(trigger) => call.state.wait_for(trigger).and_then(|()| act(call, name)),
        Stop::Hangs => call.state.hang(),
        Stop::Ignored => ignore(call, name).map(Ok),
        Stop::BlocksUntilDrained => match drain(call, name)? {
            Drained::Dead => Ok(Ok(())),
            Drained::Alive => act(call, name),
        },
    }
}

fn kill_one(call: &Call, name: &str) -> Result<Verdict, Failure> {
    let refused =
        |text| Ok(Err(Refused { text: format!("Cannot kill container: {name}: {text}"), exit: 1 }));
    match call.store.find(name)? {
        None => refused(format!("No such container: {name}")),
        Some(container) if container.phase == Phase::Running => call.store.kill(&container).map(Ok),
        Some(container) => refused(format!("Container {} is not running", container.id)),
    }
}

fn remove_one(call: &Call, name: &str) -> Result<Verdict, Failure> {
    match call.store.find(name)? {
        None => Ok(Err(Refused { text: format!("No such container: {name}"), exit: 1 })),
        Some(container) if container.phase == Phase::Running => Ok(Err(Refused {
            text: format!(
                "You cannot remove a running container {}. Stop the container before attempting \
                 removal or force remove",
                container.id
            ),
            exit: 1,
        })),
        Some(container) => call.store.remove(&container.id).map(Ok),
    }
}

fn force_remove_one(call: &Call, name: &str) -> Result<Verdict, Failure> {
    let Some(container) = call.store.find(name)? else {
        return Ok(Err(Refused { text: format!("No such container: {name}"), exit: 0 }));
    };
    if container.phase == Phase::Running {
        call.store.kill(&container)?;
    }
    call.store.remove(&container.id).map(Ok)
}

fn ignore(call: &Call, name: &str) -> Result<(), Failure> {
    match call.store.find(name)? {
        Some(container) => call.store.note(&container.id, "kill", &[("signal", "9")]),
        None => Ok(()),
    }
}

/// What a container is once its output has been passed on.
enum Drained {
    Dead,
    /// The client died instead: the daemon has nobody left to wait for.
    Alive,
}

/// The client must have passed on all that the program wrote, or be dead.
fn drain(call: &Call, name: &str) -> Result<Drained, Failure> {
    let Some(container) = call.store.find(name)? else { return Ok(Drained::Alive) };
    call.store.ask_to_drain(&container.id)?;
    call.state.wait(|| {
        // Asked first: a client that ends well has written down its container's end before.
        let ended = client_has_ended(&container);
        if call.store.gone(&container.id)?.is_some() {
            return Ok(Some(Drained::Dead));
        }
        Ok(ended.then_some(Drained::Alive))
    })
}

/// A zombie has ended: a pidfd says so, a signal 0 would not.
pub(crate) fn client_has_ended(container: &Container) -> bool {
    let Some(pid) = Pid::from_raw(container.client) else { return true };
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let mut ready = [PollFd::new(&pidfd, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut ready, Some(&at_once)).is_ok_and(|count| count > 0)
}
