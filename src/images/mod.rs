//! Images: where a run's image comes from, and how das makes one where no registry can be reached.

pub mod offline;
