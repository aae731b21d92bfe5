//! `ps` and `inspect`.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::args::{Args, Flags, Order};
use crate::call::Call;
use crate::event::has_label;
use crate::failure::Failure;
use crate::images;
use crate::scenario::{Answer, Listing};
use crate::store::{Container, Phase};
use crate::template;

const PS: Flags = Flags {
    switches: &["--all", "--quiet", "--no-trunc"],
    valued: &["--filter", "--format"],
    aliases: &[("-a", "--all"), ("-q", "--quiet"), ("-f", "--filter")],
};
const INSPECT: Flags =
    Flags { switches: &[], valued: &["--format", "--type"], aliases: &[("-f", "--format")] };

pub(crate) fn ps(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let args = PS.parse(Order::Mixed, words)?;
    let filters = args.filters()?;
    if args.value("--format").is_none() && !args.has("--quiet") {
        return Err(Failure::unplayed("`ps` without --format or --quiet"));
    }
    if let Some(answer) = call.reach_daemon("Get /v1.50/containers/json?all=1")? {
        return Ok(answer);
    }
    match call.behaviour(&call.scenario.ps) {
        Listing::Normal => list(call, &args, &filters),
        Listing::Garbage => Ok(Answer::ok("{\"ID\":\n\u{fffd}\n")),
        Listing::Hangs => call.state.hang(),
        Listing::Answers(answer) => Ok(answer),
    }
}

fn list(call: &Call, args: &Args, filters: &[(&str, &str)]) -> Result<Answer, Failure> {
    let mut stdout = String::new();
    for container in call.store.all()? {
        let shown = args.has("--all") || container.phase == Phase::Running;
        if shown && matches(&container, filters)? {
            stdout += &row(&container, args)?;
            stdout.push('\n');
        }
    }
    Ok(Answer::ok(stdout))
}

fn matches(container: &Container, filters: &[(&str, &str)]) -> Result<bool, Failure> {
    let mut all = true;
    for (key, value) in filters {
        all &= match *key {
            "label" => has_label(&container.labels, value),
            "name" => container.name.contains(value),
            "id" => container.id.starts_with(value),
            "status" => container.phase.name() == *value,
            _ => return Err(Failure::unplayed(format!("filter `{key}`"))),
        };
    }
    Ok(all)
}

fn row(container: &Container, args: &Args) -> Result<String, Failure> {
    let id = if args.has("--no-trunc") { &container.id } else { &container.id[..12] };
    match args.value("--format") {
        Some(format) if !args.has("--quiet") => template::render(format, &summary(container, id)),
        Some(_) | None => Ok(id.to_owned()),
    }
}

fn summary(container: &Container, id: &str) -> Value {
    let labels: Vec<String> =
        container.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    json!({
        "Command": format!("\"{}\"", container.command.join(" ")),
        "CreatedAt": listed_time(container.created_nanos),
        "ID": id,
        "Image": container.image,
        "Labels": labels.join(","),
        "LocalVolumes": "0",
        "Mounts": "",
        "Names": container.name,
        "Networks": container.network,
        "Platform": null,
        "Ports": "",
        "RunningFor": "1 second ago",
        "Size": "0B (virtual 3.21MB)",
        "State": container.phase.name(),
        "Status": container.phase.status(),
    })
}

pub(crate) fn inspect(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let args = INSPECT.parse(Order::Mixed, words)?;
    let request = format!("Get /v1.50/containers/{}/json", args.operands.join("/"));
    if let Some(answer) = call.reach_daemon(&request)? {
        return unanswered(args.value("--format"), &answer);
    }
    let mut found = Vec::new();
    let mut missing = Answer::default();
    for name in &args.operands {
        match look_up(call, name, args.value("--type"))? {
            Some(object) => found.push(object),
            None => missing = Answer::error(format!("Error: No such object: {name}")),
        }
    }
    Ok(inspected(&found, args.value("--format"))?.with_error(&missing))
}

/// A list of nothing, unless the CLI did not come so far.
pub(crate) fn unanswered(format: Option<&str>, error: &Answer) -> Result<Answer, Failure> {
    if error.is_of_the_cli() {
        Ok(error.clone())
    } else {
        Ok(inspected(&[], format)?.with_error(error))
    }
}

/// Prints objects as all of the CLI's `inspect` commands do.
pub(crate) fn inspected(found: &[Value], format: Option<&str>) -> Result<Answer, Failure> {
    let Some(format) = format else {
        let mut text = Vec::new();
        let indent = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut writer = serde_json::Serializer::with_formatter(&mut text, indent);
        serde::Serialize::serialize(found, &mut writer)
            .map_err(|error| Failure::unplayed(error.to_string()))?;
        return Ok(Answer::ok(format!("{}\n", String::from_utf8_lossy(&text))));
    };
    let lines: Result<Vec<_>, _> =
        found.iter().map(|object| template::render(format, object)).collect();
    Ok(Answer::ok(format!("{}\n", lines?.join("\n"))))
}

impl Answer {
    pub(crate) fn with_error(mut self, error: &Self) -> Self {
        self.stderr.push_str(&error.stderr);
        self.exit = error.exit;
        self
    }
}

fn look_up(call: &Call, name: &str, kind: Option<&str>) -> Result<Option<Value>, Failure> {
    let container = match kind {
        None | Some("container") => call.store.find(name)?.as_ref().map(describe),
        Some(_) => None,
    };
    match (container, kind) {
        (None, None | Some("image")) => images::describe(call, name),
        (container, _) => Ok(container),
    }
}

fn describe(container: &Container) -> Value {
    let started = match container.phase {
        Phase::Created => "0001-01-01T00:00:00Z".to_owned(),
        Phase::Running | Phase::Exited(_) => time(container.created_nanos),
    };
    let code = if let Phase::Exited(code) = container.phase { code } else { 0 };
    json!({
        "Id": container.id,
        "Created": time(container.created_nanos),
        "Path": container.command.first(),
        "Args": container.command.get(1..),
        "State": {
            "Status": container.phase.name(),
            "Running": container.phase == Phase::Running,
            "Paused": false,
            "Restarting": false,
            "OOMKilled": container.oom_killed,
            "Dead": false,
            "ExitCode": code,
            "Error": "",
            "StartedAt": started,
        },
        "Name": format!("/{}", container.name),
        "HostConfig": { "AutoRemove": container.auto_remove, "NetworkMode": container.network },
        "Config": {
            "Cmd": container.command,
            "Image": container.image,
            "Labels": container.labels,
        },
    })
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Exited(_) => "exited",
        }
    }

    fn status(self) -> String {
        match self {
            Self::Created => "Created".to_owned(),
            Self::Running => "Up Less than a second".to_owned(),
            Self::Exited(code) => format!("Exited ({code}) Less than a second ago"),
        }
    }
}

fn timestamp(nanos: u64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanos)).unwrap_or_default()
}

pub(crate) fn time(nanos: u64) -> String {
    timestamp(nanos).to_string()
}

pub(crate) fn listed_time(nanos: u64) -> String {
    timestamp(nanos).strftime("%Y-%m-%d %H:%M:%S +0000 UTC").to_string()
}
