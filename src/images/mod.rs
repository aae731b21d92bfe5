//! Images: where a run's image comes from, and how das makes one where no registry can be reached.

pub mod dockerfile;
pub mod inspect;
pub mod offline;
pub mod package;
pub mod pull_refusal;
pub mod tags;
