//! Images: where a run's image comes from, and how das makes one where no registry can be reached.

pub mod commands;
pub mod dockerfile;
pub mod ensure;
pub mod error;
pub mod inspect;
pub mod inventory;
pub mod make;
pub mod offline;
pub mod package;
pub mod pull_refusal;
pub mod shelf;
pub mod table;
pub mod tags;
mod turn;
pub mod versions;
