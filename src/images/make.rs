//! Makes images: from this machine's own interpreter, or from another image and packages.

use super::commands::{self, EngineError};
use super::dockerfile::Recipe;
use super::inspect::Made as Origin;
use super::offline::{Blueprint, OfflineError, Order};
use super::turn::Turn;
use crate::engine::Engine;
use crate::engine::command::CommandError;
use crate::names::{ImageRef, User};

/// An image that was made.
#[derive(Debug)]
pub struct Made {
    /// Its name.
    pub image: ImageRef,
    /// What it was made from.
    pub from: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// What this machine lacks and the image therefore too, a line each.
    pub left_out: Vec<String>,
}

/// Why no image was made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// This machine does not have what it takes.
    #[error(transparent)]
    Offline(#[from] OfflineError),
    /// The engine does not take it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Packages were added to the base before, by an installer that is not in it.
    #[error("`{base}` already has packages, and no installer to add more")]
    AlreadyBaked {
        /// The base.
        base: ImageRef,
    },
    /// Somebody has removed it meanwhile.
    #[error("the engine does not have `{image}` any more")]
    Vanished {
        /// The image.
        image: ImageRef,
    },
}

impl From<CommandError> for MakeError {
    fn from(error: CommandError) -> Self {
        Self::Engine(error.into())
    }
}

impl MakeError {
    /// What helps, in one sentence without a full stop, if das knows.
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            Self::Offline(OfflineError::NoPackages) => Some(
                "pull the policy's image (`das image pull shell`), or name one with apk or apt-get",
            ),
            Self::Offline(OfflineError::NotLinux { os: _ } | OfflineError::Architecture { .. }) => {
                Some("pull an image (`das image pull`), or build on the engine's own machine")
            }
            Self::Offline(OfflineError::NotInstalled { program: _ }) => {
                Some("install it, or pull an image (`das image pull`)")
            }
            Self::AlreadyBaked { base: _ } => {
                Some("name all the packages in one build, on the policy's first image")
            }
            Self::Engine(_) => Some("`das doctor` looks for what is wrong with the engine"),
            Self::Offline(_) | Self::Vanished { image: _ } => None,
        }
    }
}

/// Makes an image from this machine's own interpreter, under its own name or a chosen one.
pub fn offline(
    engine: &Engine,
    order: Order<'_>,
    tag: Option<&ImageRef>,
) -> Result<Made, MakeError> {
    offline_in_turn(engine, order, tag, &Turn::wait())
}

/// The same for somebody who has the turn already.
pub(super) fn offline_in_turn(
    engine: &Engine,
    order: Order<'_>,
    tag: Option<&ImageRef>,
    _turn: &Turn,
) -> Result<Made, MakeError> {
    let blueprint = Blueprint::of(order, &commands::architecture(engine)?)?;
    let image = tag.cloned().unwrap_or_else(|| blueprint.tag());
    let (from, left_out) = (blueprint.origin(), blueprint.left_out().to_vec());
    let bytes = replace(engine, &image, || commands::import(engine, blueprint, &image))?;
    Ok(Made { image, from, bytes, left_out })
}

/// Adds packages to a base that the engine has. A base from a machine's own interpreter has no
/// installer: it is made again, with what this machine's installer brings.
pub fn with_packages(
    engine: &Engine,
    base: &ImageRef,
    order: Order<'_>,
    user: User,
    tag: Option<&ImageRef>,
) -> Result<Made, MakeError> {
    let described = commands::describe(engine, base.as_str())?
        .ok_or_else(|| MakeError::Vanished { image: base.clone() })?;
    match described.made {
        Origin::Baked(_) if described.bare => Err(MakeError::AlreadyBaked { base: base.clone() }),
        _ if described.bare => offline(engine, order, tag),
        Origin::Pulled | Origin::Offline(_) | Origin::Baked(_) | Origin::Local => {
            built(engine, base, order, user, tag)
        }
    }
}

fn built(
    engine: &Engine,
    base: &ImageRef,
    order: Order<'_>,
    user: User,
    tag: Option<&ImageRef>,
) -> Result<Made, MakeError> {
    let Order { interpreter, packages, talk } = order;
    let recipe = Recipe { base, interpreter, packages, user };
    let image = tag.cloned().unwrap_or_else(|| recipe.tag());
    let bytes = replace(engine, &image, || commands::build(engine, &recipe, &image, talk))?;
    Ok(Made { image, from: base.to_string(), bytes, left_out: Vec::new() })
}

/// Makes an image and removes the one that loses its name to it. Tells the new one's size.
fn replace(
    engine: &Engine,
    image: &ImageRef,
    make: impl FnOnce() -> Result<(), EngineError>,
) -> Result<u64, MakeError> {
    let before = commands::describe(engine, image.as_str())?;
    make()?;
    let Some(now) = commands::describe(engine, image.as_str())? else {
        return Err(MakeError::Vanished { image: image.clone() });
    };
    if let Some(before) = before.filter(|before| before.id != now.id && before.tags.len() == 1) {
        commands::remove_nameless(engine, &before.id)?;
    }
    Ok(now.bytes)
}
