//! The image store, with `image inspect` and `image ls`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::args::{Flags, Order};
use crate::call::Call;
use crate::containers::{inspected, listed_time, unanswered};
use crate::facts::merge;
use crate::failure::Failure;
use crate::scenario::{Answer, Image, Presence};
use crate::store::digest;
use crate::template;

const INSPECT: Flags =
    Flags { switches: &[], valued: &["--format"], aliases: &[("-f", "--format")] };
const LIST: Flags = Flags {
    switches: &["--quiet", "--no-trunc", "--all"],
    valued: &["--filter", "--format"],
    aliases: &[("-f", "--filter"), ("-q", "--quiet"), ("-a", "--all")],
};

pub(crate) fn inspect(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let args = INSPECT.parse(Order::Mixed, words)?;
    let format = args.value("--format");
    let request = format!("Get /v1.50/images/{}/json", args.operands.join("/"));
    if let Some(error) = call.reach_daemon(&request)? {
        return unanswered(format, &error);
    }
    let mut found = Vec::new();
    let mut missing = Answer::default();
    for name in &args.operands {
        match describe(call, name)? {
            Some(image) => found.push(image),
            None => missing = missing.with_error(&no_such_image(name)),
        }
    }
    Ok(inspected(&found, format)?.with_error(&missing))
}

fn no_such_image(name: &str) -> Answer {
    Answer::error(format!(
        "Error response from daemon: no such image: {name}: No such image: {}",
        tagged(name)
    ))
}

/// What `image inspect` tells of an image, if it is there.
pub(crate) fn describe(call: &Call, name: &str) -> Result<Option<Value>, Failure> {
    if name.starts_with("sha256:") {
        let known = present(call)?.into_iter().map(|(name, image)| details(&name, &image));
        if let Some(image) = known.into_iter().find(|image| image["Id"] == name) {
            return Ok(Some(image));
        }
    }
    let image = find(call, name)?;
    Ok((image.presence == Presence::Present).then(|| details(&tagged(name), &image)))
}

/// A container has its image's labels too.
pub(crate) fn labels(call: &Call, name: &str) -> Result<BTreeMap<String, String>, Failure> {
    let image = find(call, name)?;
    let labels = image.patch.pointer("/Config/Labels").cloned().unwrap_or_default();
    Ok(serde_json::from_value(labels).unwrap_or_default())
}

pub(crate) fn is_present(call: &Call, name: &str) -> Result<bool, Failure> {
    Ok(find(call, name)?.presence == Presence::Present)
}

/// Puts an image into the store, over whatever the scenario says of it.
pub(crate) fn put(call: &Call, name: &str, image: &Image) -> Result<(), Failure> {
    let name = tagged(name);
    let path = call.state.file("images", &digest(name.as_bytes()))?;
    call.state.write(&path, &(name, image))
}

/// The image as the scenario has it, the daemon's own later changes aside.
pub(crate) fn scripted(call: &Call, name: &str) -> Image {
    let images = &call.scenario.images;
    let named = images.named.get(name).or_else(|| images.named.get(&tagged(name)));
    named.cloned().unwrap_or(Image { presence: images.others, ..Image::default() })
}

fn find(call: &Call, name: &str) -> Result<Image, Failure> {
    let path = call.state.file("images", &digest(tagged(name).as_bytes()))?;
    let loaded: Option<(String, Image)> = call.state.read(&path)?;
    match loaded {
        Some((_, image)) => Ok(image),
        None => Ok(scripted(call, name)),
    }
}

/// `latest` is what is meant where no tag is said.
fn tagged(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains([':', '@']) { name.to_owned() } else { format!("{name}:latest") }
}

fn details(name: &str, image: &Image) -> Value {
    let mut details = json!({
        "Id": id_of(name),
        "RepoTags": if name.contains("sha256:") { json!([]) } else { json!([name]) },
        "RepoDigests": [],
        "Parent": "",
        "Comment": "",
        "Created": "2026-07-01T00:00:00Z",
        "Architecture": "amd64",
        "Os": "linux",
        "Size": 3_207_000,
        "Config": {
            "User": "", "Env": null, "Cmd": null, "Volumes": null, "WorkingDir": "",
            "Entrypoint": null, "Labels": null,
        },
    });
    merge(&mut details, &image.patch);
    details
}

fn id_of(name: &str) -> String {
    match name.rsplit_once("sha256:") {
        Some((_, id)) => format!("sha256:{id}"),
        None => format!("sha256:{}", digest(name.as_bytes())),
    }
}

pub(crate) fn list(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let args = LIST.parse(Order::Mixed, words)?;
    let filters = args.filters()?;
    if let Some(answer) = call.reach_daemon("Get /v1.50/images/json")? {
        return Ok(answer);
    }
    let mut stdout = String::new();
    for (name, image) in present(call)? {
        let details = details(&name, &image);
        if !matches(&name, &details, &filters)? {
            continue;
        }
        let id = details["Id"].as_str().unwrap_or_default();
        let id = if args.has("--no-trunc") { id } else { &id["sha256:".len()..][..12] };
        stdout += &match args.value("--format") {
            _ if args.has("--quiet") => id.to_owned(),
            Some(format) => template::render(format, &row(&name, id))?,
            None => return Err(Failure::unplayed("`image ls` without --format or --quiet")),
        };
        stdout.push('\n');
    }
    Ok(Answer::ok(stdout))
}

/// All images with a name: those of the scenario and those that were loaded.
fn present(call: &Call) -> Result<Vec<(String, Image)>, Failure> {
    let dir = call.state.file("images", "")?;
    let entries = fs::read_dir(&dir).map_err(|error| call.state.failure(&dir, error))?;
    let mut images = call.scenario.images.named.clone();
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        images.extend(call.state.read::<(String, Image)>(&path)?);
    }
    Ok(images.into_iter().filter(|(_, image)| image.presence == Presence::Present).collect())
}

fn matches(name: &str, details: &Value, filters: &[(&str, &str)]) -> Result<bool, Failure> {
    let labels = &details["Config"]["Labels"];
    let mut all = true;
    for (key, value) in filters {
        all &= match (*key, value.split_once('=')) {
            ("label", Some((label, value))) => labels[label] == *value,
            ("label", None) => labels.get(*value).is_some(),
            ("reference", _) => name == *value,
            _ => return Err(Failure::unplayed(format!("filter `{key}`"))),
        };
    }
    Ok(all)
}

fn row(name: &str, id: &str) -> Value {
    let (repository, tag) = name.rsplit_once(':').unwrap_or((name, "latest"));
    json!({
        "Containers": "N/A",
        "CreatedAt": listed_time(1_782_864_000_000_000_000),
        "CreatedSince": "5 weeks ago",
        "Digest": "<none>",
        "ID": id,
        "Repository": repository,
        "SharedSize": "N/A",
        "Size": "3.21MB",
        "Tag": tag,
        "UniqueSize": "N/A",
        "VirtualSize": "3.207MB",
    })
}
