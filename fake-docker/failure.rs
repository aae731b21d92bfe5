//! Why the stand-in itself gives up. None of this is an answer that Docker gives.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The stand-in cannot go on; the call exits with 64.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Unplayed(String),
    #[error("the state directory `{0}` is gone: the test is over")]
    Vanished(PathBuf),
    #[error("still running after {0:?}")]
    Bound(Duration),
    #[error("`{0}`")]
    Io(PathBuf, #[source] io::Error),
}

impl Failure {
    pub(crate) fn unplayed(what: impl Into<String>) -> Self {
        Self::Unplayed(what.into())
    }
}
