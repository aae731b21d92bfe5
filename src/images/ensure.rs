//! Makes sure that the image of a run is there before its deadline starts.

use super::commands;
use super::error::ImageError;
use super::inspect::{LocalImage, OFFLINE_LABEL};
use super::make;
use super::offline::{Interpreter, Order};
use super::pull_refusal::PullRefusal;
use super::tags;
use super::turn::Turn;
use crate::engine::Engine;
use crate::engine::command::Talk;
use crate::language::Language;
use crate::names::{ImageRef, LanguageName};
use crate::policy::PullPolicy;
use crate::runner::Stopper;

/// Whether a person watches.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    /// This gets a line about each step that takes time, and what fetches shows how far it is on
    /// das's own stderr.
    Shown(fn(&str)),
    /// Nothing but the result is told.
    Hidden,
}

impl Progress {
    fn tell(self, line: &str) {
        match self {
            Self::Shown(tell) => tell(line),
            Self::Hidden => {}
        }
    }
}

/// Who chose an image: what somebody named is never replaced by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It is the default of its language.
    Default,
    /// Somebody named it.
    Named,
}

impl Choice {
    /// The choice that a policy's image stands for: the default one, as long as it is that.
    pub fn of(language: &LanguageName, image: &ImageRef) -> Self {
        match Language::named(language.as_str()) {
            Some(known) if known.image == image.as_str() => Self::Default,
            Some(_) | None => Self::Named,
        }
    }
}

/// An image that must be there.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The language that runs in it.
    pub language: &'a LanguageName,
    /// The image.
    pub image: &'a ImageRef,
    /// Who chose it.
    pub choice: Choice,
    /// When to pull it.
    pub pull: PullPolicy,
    /// Whether a person watches.
    pub progress: Progress,
    /// Who may end the waiting.
    pub stopper: &'a Stopper,
}

/// The image that is there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ensured {
    /// What to run in: the wanted one, or the one that stands in for it.
    pub image: ImageRef,
    /// How it came to be there.
    pub how: How,
}

/// How an image came to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// It was there.
    Present,
    /// It was pulled.
    Pulled,
    /// It was there and should have been pulled again, but no registry can be reached.
    Stale,
    /// It stands in for a default one that is not there; it was made earlier from this.
    StandIn(String),
    /// It was made just now from this, because no registry can be reached.
    MadeOffline(String),
}

impl Ensured {
    /// What a person should hear about it, in one line, unless all is as wanted.
    pub fn notice(&self, wanted: &ImageRef) -> Option<String> {
        let image = &self.image;
        match &self.how {
            How::Present | How::Pulled => None,
            How::Stale => Some(format!(
                "no registry can be reached; using the `{image}` that is here already"
            )),
            How::StandIn(origin) => Some(format!(
                "`{wanted}` is not here; using `{image}`, made from {origin} \
                 (`das image pull` fetches the other)"
            )),
            How::MadeOffline(origin) => Some(format!(
                "no registry can be reached; using `{image}`, made just now from {origin}, \
                 in place of `{wanted}`"
            )),
        }
    }
}

/// Makes sure that an image is there, by pulling it where the policy says so. Where no registry
/// can be reached and nobody named the image, one made from this machine's own interpreter
/// stands in.
pub fn ensure(engine: &Engine, wanted: Wanted<'_>) -> Result<Ensured, ImageError> {
    let image = wanted.image;
    let present = commands::describe(engine, image.as_str())?.is_some();
    match (wanted.pull, present) {
        (PullPolicy::Never | PullPolicy::Missing, true) => Ok(here(image, How::Present)),
        (PullPolicy::Never, false) => Err(ImageError::NotPulled { image: image.clone() }),
        (PullPolicy::Missing, false) => match stand_in(engine, wanted)? {
            Some(ensured) => Ok(ensured),
            None => fetch(engine, wanted).or_else(|error| make(engine, wanted, error)),
        },
        (PullPolicy::Always, true) => fetch(engine, wanted).or_else(|error| {
            if may_be_replaced(wanted, &error) { Ok(here(image, How::Stale)) } else { Err(error) }
        }),
        (PullPolicy::Always, false) => {
            fetch(engine, wanted).or_else(|error| make(engine, wanted, error))
        }
    }
}

fn here(image: &ImageRef, how: How) -> Ensured {
    Ensured { image: image.clone(), how }
}

/// Pulls the image, whatever the policy says.
pub fn fetch(engine: &Engine, wanted: Wanted<'_>) -> Result<Ensured, ImageError> {
    let image = wanted.image;
    wanted.progress.tell(&format!("pulling `{image}`"));
    let talk = match wanted.progress {
        Progress::Shown(_) => Talk::ProgressOnStderr,
        Progress::Hidden => Talk::Captured,
    };
    let finished = commands::pull(engine, image, talk, wanted.stopper)?;
    if finished.success() {
        return Ok(here(image, How::Pulled));
    }
    let said = finished.err();
    let refusal = PullRefusal::of(image, &said);
    Err(ImageError::Pull { image: image.clone(), refusal, said: shortened(&said) })
}

/// The engine's last line is its reason; those before it are progress.
fn shortened(said: &str) -> String {
    let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    let line = line.trim().trim_start_matches("Error response from daemon: ");
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

fn may_be_replaced(wanted: Wanted<'_>, error: &ImageError) -> bool {
    let unreachable = matches!(error, ImageError::Pull { refusal: PullRefusal::NoRegistry, .. });
    unreachable && wanted.choice == Choice::Default
}

/// The newest image that was made earlier to stand in for this default one. It is taken without
/// asking a registry again, because an unreachable one can take long to be found so.
fn stand_in(engine: &Engine, wanted: Wanted<'_>) -> Result<Option<Ensured>, ImageError> {
    let (Choice::Default, Some(interpreter)) =
        (wanted.choice, Interpreter::of(wanted.language.as_str()))
    else {
        return Ok(None);
    };
    let mut images = commands::labelled(engine, OFFLINE_LABEL)?;
    // RFC 3339 in UTC sorts as text.
    images.sort_by(|one, other| other.created.cmp(&one.created));
    Ok(images.iter().find_map(|image| as_stand_in(image, interpreter)))
}

fn as_stand_in(image: &LocalImage, interpreter: Interpreter) -> Option<Ensured> {
    let prefix = format!("{}:", tags::offline_repository(interpreter));
    let tag = image.tags.iter().find(|tag| tag.starts_with(&prefix))?;
    let origin = image.made.from()?.to_owned();
    Some(Ensured { image: tag.parse().ok()?, how: How::StandIn(origin) })
}

/// Makes an image where that is allowed after this failure; otherwise the failure stays.
fn make(engine: &Engine, wanted: Wanted<'_>, failure: ImageError) -> Result<Ensured, ImageError> {
    let interpreter = Interpreter::of(wanted.language.as_str());
    let Some(interpreter) = interpreter.filter(|_| may_be_replaced(wanted, &failure)) else {
        return Err(failure);
    };
    let turn = Turn::wait();
    // Another process may have made it meanwhile, or an earlier one that never asks this.
    if let Some(ensured) = stand_in(engine, wanted)? {
        return Ok(ensured);
    }
    let language = interpreter.name();
    wanted.progress.tell(&format!("making an image from this machine's own {language}"));
    let order = Order { interpreter, packages: &[], talk: Talk::Captured };
    let made = make::offline_in_turn(engine, order, None, &turn)
        .map_err(|source| ImageError::Offline { image: wanted.image.clone(), source })?;
    Ok(Ensured { image: made.image, how: How::MadeOffline(made.from) })
}
