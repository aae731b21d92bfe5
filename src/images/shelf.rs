//! Remembers, for as long as a process lives, which image each wanted one has turned out to be.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ensure::{Ensured, Wanted, ensure};
use super::error::ImageError;
use crate::engine::Engine;
use crate::names::ImageRef;

/// The images that a process has made sure of.
#[derive(Debug, Default)]
pub struct Shelf(Mutex<BTreeMap<ImageRef, Ensured>>);

impl Shelf {
    /// What a wanted image has turned out to be, if it has been made sure of before.
    pub fn known(&self, wanted: &ImageRef) -> Option<Ensured> {
        self.lock().get(wanted).cloned()
    }

    /// Makes sure of an image, whatever is known of it. Others may do the same at once: the engine
    /// pulls an image once, and an image that is made twice is the same.
    pub fn fetch(&self, engine: &Engine, wanted: Wanted<'_>) -> Result<Ensured, ImageError> {
        let ensured = ensure(engine, wanted)?;
        self.lock().insert(wanted.image.clone(), ensured.clone());
        Ok(ensured)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ImageRef, Ensured>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
