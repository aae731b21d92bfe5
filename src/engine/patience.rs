//! How long das waits for an engine: every wait has its bound here.

use std::time::Duration;

/// How long das waits for an engine. The default suits a busy machine; a caller that has to
/// answer sooner may wait less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the answer to a question.
    pub ask: Duration,
    /// For a container to be killed or removed.
    pub stop: Duration,
    /// For a container to become killable: it may still be in the making.
    pub stoppable: Duration,
    /// For the end of the client of a container that has been killed.
    pub client: Duration,
    /// For the start of a container, beyond the program's own time.
    pub start: Duration,
    /// For a container that may still appear after its client's death: the engine may be in the
    /// middle of making it, and answers "no such container" until it has.
    pub appearance: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            ask: Duration::from_secs(3),
            stop: Duration::from_secs(5),
            stoppable: Duration::from_secs(10),
            client: Duration::from_secs(5),
            start: Duration::from_secs(30),
            appearance: Duration::from_secs(2),
        }
    }
}
