//! The engine's commands about images, each with its bound.

use std::time::Duration;

use super::dockerfile::Recipe;
use super::inspect::{self, LocalImage};
use super::offline::Blueprint;
use crate::engine::command::{CommandError, Finished, Input, Talk};
use crate::engine::{Engine, EngineKind};
use crate::names::ImageRef;
use crate::runner::Stopper;

/// How long the engine may take to answer a question about its images.
const ASK_BOUND: Duration = Duration::from_secs(20);
/// How long a pull or a build may take, on a slow line too.
const FETCH_BOUND: Duration = Duration::from_hours(1);
/// How long the engine may take to unpack what is streamed into it.
const IMPORT_BOUND: Duration = Duration::from_mins(10);

/// Why the engine did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Its command did not run to its end.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// It refused, in its own words.
    #[error("the engine refused: {}", if said.is_empty() { "see above" } else { said })]
    Refused {
        /// What it said; empty if a person has already seen it.
        said: String,
    },
}

/// What the engine knows of an image, if it has it.
pub(super) fn describe(engine: &Engine, image: &str) -> Result<Option<LocalImage>, EngineError> {
    let finished = engine.command(["image", "inspect", image]).run(ASK_BOUND)?;
    if finished.success() {
        return Ok(inspect::parse(&finished.stdout).into_iter().next());
    }
    if is_absent(&finished.err()) { Ok(None) } else { Err(refused(&finished)) }
}

/// Docker, podman and nerdctl each have their own words for an image that is not there.
fn is_absent(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    ["no such image", "image not known", "not found"].iter().any(|phrase| said.contains(phrase))
}

/// The images with this label.
pub(super) fn labelled(engine: &Engine, label: &str) -> Result<Vec<LocalImage>, EngineError> {
    let filter = format!("label={label}");
    let args = ["image", "ls", "--quiet", "--no-trunc", "--filter", &filter];
    let listed = succeeded(engine.command(args).run(ASK_BOUND)?)?.out();
    let mut ids: Vec<&str> = listed.lines().map(str::trim).filter(|id| is_id(id)).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let args = ["image", "inspect"].into_iter().chain(ids);
    // An image that was removed meanwhile makes the command fail; the others are described.
    Ok(inspect::parse(&engine.command(args).run(ASK_BOUND)?.stdout))
}

fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit())
}

/// The architecture of the machine that the engine runs on.
pub(super) fn architecture(engine: &Engine) -> Result<String, EngineError> {
    let args = match engine.facts().kind {
        EngineKind::Docker => ["version", "--format", "{{.Server.Arch}}"],
        EngineKind::Podman => ["info", "--format", "{{.Host.Arch}}"],
        EngineKind::Nerdctl => ["info", "--format", "{{.Architecture}}"],
    };
    Ok(succeeded(engine.command(args).run(ASK_BOUND)?)?.out())
}

/// Fetches an image from its registry. The engine's answer is the caller's to read.
pub(super) fn pull(
    engine: &Engine,
    image: &ImageRef,
    talk: Talk,
    stopper: &Stopper,
) -> Result<Finished, CommandError> {
    let unwanted = || stopper.cause().is_some();
    let command = engine.command(["pull", image.as_str()]);
    command.run_unless(&unwanted, Input::Empty, talk, FETCH_BOUND)
}

/// Streams a planned image into the engine, under this name.
pub(super) fn import(
    engine: &Engine,
    blueprint: Blueprint,
    tag: &ImageRef,
) -> Result<(), EngineError> {
    let changes = blueprint.changes();
    let changes = changes.iter().flat_map(|change| ["--change", change]);
    let args = ["import"].into_iter().chain(changes).chain(["-", tag.as_str()]);
    let input = Input::Written(Box::new(move |out| blueprint.write_tar(out)));
    succeeded(engine.command(args).run_with(input, Talk::Captured, IMPORT_BOUND)?)?;
    Ok(())
}

/// Builds an image from a Dockerfile and nothing else, under this name.
pub(super) fn build(
    engine: &Engine,
    recipe: &Recipe<'_>,
    tag: &ImageRef,
    talk: Talk,
) -> Result<(), EngineError> {
    let dockerfile = recipe.dockerfile();
    let input = Input::Written(Box::new(move |out| out.write_all(dockerfile.as_bytes())));
    let args = match engine.facts().kind {
        // Docker would keep the container of a step that failed.
        EngineKind::Docker => ["build", "--force-rm", "--tag"].as_slice(),
        EngineKind::Podman | EngineKind::Nerdctl => ["build", "--tag"].as_slice(),
    };
    let command = engine.command(args.iter().copied().chain([tag.as_str(), "-"]));
    succeeded(command.run_with(input, talk, FETCH_BOUND)?)?;
    Ok(())
}

/// Removes an image that has lost its name; one that a container still uses stays.
pub(super) fn remove_nameless(engine: &Engine, id: &str) -> Result<(), CommandError> {
    engine.command(["image", "rm", id]).run(ASK_BOUND)?;
    Ok(())
}

fn succeeded(finished: Finished) -> Result<Finished, EngineError> {
    if finished.success() { Ok(finished) } else { Err(refused(&finished)) }
}

fn refused(finished: &Finished) -> EngineError {
    EngineError::Refused { said: finished.err() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_image_is_told_from_an_engine_that_fails() {
        for said in [
            "Error response from daemon: no such image: a: No such image: a",
            "Error: inspecting object: a: image not known",
        ] {
            assert!(is_absent(said), "{said}");
        }
        assert!(!is_absent("Cannot connect to the Docker daemon at unix:///var/run/docker.sock."));
    }

    #[test]
    fn only_ids_of_images_go_back_onto_a_command_line() {
        assert!(is_id("sha256:0123abcd") && is_id("0123abcd"));
        assert!(!is_id("") && !is_id("--all") && !is_id("sha256:") && !is_id("warning: x"));
    }
}
