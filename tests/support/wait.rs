//! Waiting for something that another process does: often, with a bound, and with a story.

use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

const BOUND: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(2);

/// Asks until there is an answer. After a minute the test fails, with `story` as the reason.
#[track_caller]
pub(crate) fn eventually<T, S: Display>(
    what: &str,
    story: impl Fn() -> S,
    mut answer: impl FnMut() -> Option<T>,
) -> T {
    let end = Instant::now() + BOUND;
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        assert!(Instant::now() < end, "waited {BOUND:?} for {what}\n{}", story());
        thread::sleep(POLL);
    }
}
