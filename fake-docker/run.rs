//! `run`, up to the moment when the program starts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::args::{Args, Flags, Order};
use crate::call::{Call, End};
use crate::client;
use crate::daemon::of_run;
use crate::facts;
use crate::failure::Failure;
use crate::helper;
use crate::images;
use crate::scenario::{Answer, Create, Refusal, Run, Scenario, Start};
use crate::state::State;
use crate::store::{Container, Phase, new_id, now_nanos};

/// What takes walls down (`--privileged`, `--cap-add`, `--device`, ...) is not played.
const RUN: Flags = Flags {
    switches: &[
        "--rm",
        "--interactive",
        "--read-only",
        "--no-healthcheck",
        "--init",
        "--sig-proxy",
    ],
    valued: &[
        "--name",
        "--pull",
        "--network",
        "--tmpfs",
        "--memory",
        "--memory-swap",
        "--cpus",
        "--pids-limit",
        "--ulimit",
        "--cap-drop",
        "--security-opt",
        "--user",
        "--workdir",
        "--env",
        "--log-driver",
        "--entrypoint",
        "--label",
        "--runtime",
        "--volume",
        "--mount",
        "--oom-score-adj",
        "--cgroupns",
        "--hostname",
        "--ipc",
        "--shm-size",
        "--stop-timeout",
        "--stop-signal",
        "--memory-swappiness",
        "--platform",
        "--annotation",
        "--log-opt",
        "--cpu-shares",
        "--blkio-weight",
        "--sysctl",
    ],
    aliases: &[
        ("-i", "--interactive"),
        ("-e", "--env"),
        ("-u", "--user"),
        ("-w", "--workdir"),
        ("-v", "--volume"),
        ("-l", "--label"),
        ("-m", "--memory"),
        ("-h", "--hostname"),
        ("--net", "--network"),
    ],
};

pub(crate) fn run(call: &mut Call, words: &[String]) -> Result<End, Failure> {
    let args = RUN.parse(Order::OperandsLast, words)?;
    let mut container = requested(&args)?;
    if let Some(error) = call.reach_daemon("Head /_ping")? {
        return call.print(&of_run(&error));
    }
    let Some(rule) = call.rule.take() else {
        return Err(Failure::unplayed("the scenario has no program for this run"));
    };
    let inherited = images::labels(call, &container.image)?;
    container.labels = inherited.into_iter().chain(container.labels).collect();
    let error = match refused(call, &args, &rule)? {
        Some(error) => Some(error),
        None => created(call, &container, &rule.create)?,
    };
    if let Some(error) = error {
        return call.print(&error);
    }
    warn(call, &rule.warnings)?;
    match started(call, &container, &rule.start)? {
        None => client::attend(call, &args, &container, rule.steps),
        Some(error) => {
            if container.auto_remove {
                call.store.remove(&container.id)?;
            }
            call.print(&error)
        }
    }
}

fn requested(args: &Args) -> Result<Container, Failure> {
    let Some((image, command)) = args.operands.split_first() else {
        return Err(Failure::unplayed("`run` without an image"));
    };
    let name = args.value("--name").ok_or_else(|| Failure::unplayed("`run` without --name"))?;
    let labels: BTreeMap<_, _> = args.values("--label").iter().map(|label| pair(label)).collect();
    let entrypoint = args.value("--entrypoint").filter(|program| !program.is_empty());
    Ok(Container {
        name: name.to_owned(),
        id: new_id(name),
        image: image.clone(),
        command: entrypoint.map(str::to_owned).into_iter().chain(command.to_vec()).collect(),
        labels,
        network: args.value("--network").unwrap_or("bridge").to_owned(),
        auto_remove: args.has("--rm"),
        client: rustix::process::getpid().as_raw_nonzero().get(),
        created_nanos: now_nanos(),
        phase: Phase::Created,
        oom_killed: false,
    })
}

fn pair(label: &str) -> (String, String) {
    let (key, value) = label.split_once('=').unwrap_or((label, ""));
    (key.to_owned(), value.to_owned())
}

/// The first rule that matches and is not used up.
pub(crate) fn choose(
    state: &State,
    scenario: &Scenario,
    words: &[String],
) -> Result<Option<Run>, Failure> {
    for (index, rule) in scenario.run.iter().enumerate() {
        let matches = rule.when.iter().all(|word| words.contains(word));
        let left = match rule.times {
            _ if !matches => false,
            None => true,
            Some(times) => state.count("counts", &format!("run-{index}"))? < times,
        };
        if left {
            return Ok(Some(rule.clone()));
        }
    }
    Ok(None)
}

/// What the daemon says before there is a container.
fn refused(call: &Call, args: &Args, rule: &Run) -> Result<Option<Answer>, Failure> {
    let name = args.value("--name").unwrap_or_default();
    match &rule.refuse {
        Some(Refusal::Answers(answer)) => return Ok(Some(answer.clone())),
        Some(Refusal::Conflict) => return Ok(Some(conflict(name, &new_id("other")))),
        None => {}
    }
    let image = args.operands.first().map_or("", String::as_str);
    if !images::is_present(call, image)? {
        return match args.value("--pull") {
            Some("never") => Ok(Some(daemon_error(&format!("No such image: {image}")))),
            _ => Err(Failure::unplayed("an implicit pull")),
        };
    }
    match args.value("--runtime") {
        Some(name) if !facts::runtimes(call)?.iter().any(|known| known == name) => {
            Ok(Some(daemon_error(&format!("Unknown runtime specified {name}"))))
        }
        Some(_) | None => Ok(None),
    }
}

fn conflict(name: &str, other: &str) -> Answer {
    daemon_error(&format!(
        "Conflict. The container name \"/{name}\" is already in use by container \"{other}\". You \
         have to remove (or rename) that container to be able to reuse that name."
    ))
}

fn daemon_error(text: &str) -> Answer {
    of_run(&Answer::error(format!("Error response from daemon: {text}")))
}

fn created(call: &Call, container: &Container, create: &Create) -> Result<Option<Answer>, Failure> {
    match create {
        Create::AtOnce => {
            if let Err(other) = call.store.create(container)? {
                return Ok(Some(conflict(&container.name, &other)));
            }
        }
        Create::Late { after, orphan } => {
            helper::create_late(&call.state, container, after, *orphan)?;
            call.state.wait(|| call.store.find(&container.id))?;
        }
    }
    call.store.note(&container.id, "attach", &[])?;
    Ok(None)
}

fn warn(call: &Call, warnings: &[String]) -> Result<(), Failure> {
    for warning in warnings {
        writeln!(io::stderr(), "{warning}")
            .map_err(|error| call.state.failure(call.state.dir(), error))?;
    }
    Ok(())
}

fn started(call: &Call, container: &Container, start: &Start) -> Result<Option<Answer>, Failure> {
    let program = container.command.first().map_or("", String::as_str);
    let cannot_execute = |why: &str| {
        oci_error(&format!(
            "runc create failed: unable to start container process: exec: \"{program}\": {why}: \
             unknown"
        ))
    };
    match start {
        Start::Works => {}
        Start::After(trigger) => call.state.wait_for(trigger)?,
        Start::Never => {
            call.state.wait(|| call.store.gone(&container.id))?;
        }
        Start::InterpreterMissing => {
            return Ok(Some(cannot_execute("executable file not found in $PATH")));
        }
        Start::NotExecutable => return Ok(Some(cannot_execute("permission denied"))),
        Start::OciError(text) => return Ok(Some(oci_error(text))),
    }
    let there = call.store.start(&container.id)?;
    Ok((!there).then(|| daemon_error(&format!("No such container: {}", container.id))))
}

fn oci_error(text: &str) -> Answer {
    daemon_error(&format!("failed to create shim task: OCI runtime create failed: {text}"))
}
