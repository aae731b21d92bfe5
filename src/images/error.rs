//! Why there is no image to run in, and what helps.

use std::error::Error;

use super::commands::EngineError;
use super::make::MakeError;
use super::pull_refusal::PullRefusal;
use crate::engine::command::CommandError;
use crate::names::ImageRef;
use crate::outcome::failure::Failure;

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
    #[error("cannot pull `{image}`: {} ({said})", refusal.reason())]
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
    /// The failure of a run that has no image because of this.
    pub fn failure(&self) -> Failure {
        match self {
            Self::NotPulled { image } => Failure::NoImage(image.to_string()),
            Self::Pull { refusal: PullRefusal::NoEngine, said, image: _ }
            | Self::Engine(EngineError::Refused { said }) => Failure::of_engine(said),
            Self::Pull { refusal, said, image: _ } => {
                Failure::ImageUnavailable(format!("{} ({said})", refusal.reason()))
            }
            Self::Offline { image: _, source } => {
                let told = format!("no registry can be reached, and {}", chain(source));
                Failure::ImageUnavailable(told)
            }
            Self::Engine(EngineError::Command(error @ CommandError::NotFound { program: _ })) => {
                Failure::NoEngine(error.to_string())
            }
            Self::Engine(EngineError::Command(error)) => Failure::Engine(chain(error)),
        }
    }

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

/// An error and its causes, in one line.
fn chain(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {}", chain(cause)))
}
