//! Why there is no image to run in, and what helps.

use super::commands::EngineError;
use super::make::MakeError;
use super::pull_refusal::PullRefusal;
use crate::engine::command::CommandError;
use crate::names::ImageRef;

/// Why there is no image to run in.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It is not there, and the policy forbids to pull it.
    #[error("the image `{image}` is not here, and the policy says never to pull")]
    NotPulled {
        /// The image.
        image: ImageRef,
    },
    /// It could not be pulled.
    #[error("cannot pull `{image}`: {said}")]
    Pull {
        /// The image.
        image: ImageRef,
        /// Why, as far as it can be told.
        refusal: PullRefusal,
        /// The engine's own words.
        said: String,
    },
    /// No registry can be reached, and this machine's own interpreter could not stand in.
    #[error("no registry can be reached for `{image}`, and no image could be made without one")]
    Offline {
        /// The image that was wanted.
        image: ImageRef,
        /// Why none could be made.
        source: MakeError,
    },
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<CommandError> for ImageError {
    fn from(error: CommandError) -> Self {
        Self::Engine(error.into())
    }
}

impl ImageError {
    /// What helps, in one sentence without a full stop.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::NotPulled { image: _ } => "`das image pull` fetches it, or allow --pull missing",
            Self::Pull { image: _, refusal, said: _ } => refusal.fix(),
            Self::Offline { image: _, source: _ } => {
                "connect to a network, or name an image that the engine has with --image"
            }
            Self::Engine(_) => "`das doctor` looks for what is wrong",
        }
    }
}
