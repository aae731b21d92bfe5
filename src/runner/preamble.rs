//! Tells the engine's own words on standard error from the program's.
//!
//! The client writes its warnings and errors to the same pipe as the program. No text is proof: a
//! program can print whatever Docker prints. Time is: what came before the container was started
//! cannot be the program's. So a stream that begins as the engine's words do is held back, each
//! piece with its time, until the engine's record tells when the start was.

use std::borrow::Cow;
use std::time::Instant;

/// How the words of the known clients begin.
const BEGINNINGS: [&str; 12] = [
    "WARNING: ",
    "docker: ",
    "Error",
    "error",
    "time=",
    "Emulate Docker CLI",
    "Failed to initialize",
    "unable to ",
    "Cannot connect",
    "Got permission denied",
    "permission denied",
    "invalid ",
];

/// The most that is held back: no engine says more before it starts a container.
const MOST_HELD: usize = 64 * 1024;

/// Sifts one stream.
#[derive(Debug, Default)]
pub(super) struct Preamble {
    state: State,
    engine: Vec<u8>,
}

#[derive(Debug, Default)]
enum State {
    /// Everything so far may be the engine's.
    Holding(Vec<(Instant, Vec<u8>)>),
    /// The rest is the program's.
    #[default]
    Open,
}

/// When the container was started, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// At this time by das's own clock, or later.
    At(Instant),
    /// Never: the program printed nothing.
    Never,
}

impl Preamble {
    /// For a stream to which the engine's client also writes; the default is for one that is the
    /// program's alone.
    pub(super) fn expected() -> Self {
        Self { state: State::Holding(Vec::new()), engine: Vec::new() }
    }

    /// Takes the next piece and returns what is certainly the program's.
    pub(super) fn sift<'a>(&mut self, piece: &'a [u8], at: Instant) -> Cow<'a, [u8]> {
        let State::Holding(held) = &mut self.state else { return Cow::Borrowed(piece) };
        held.push((at, piece.to_owned()));
        let all: Vec<u8> = held.iter().flat_map(|(_, piece)| piece).copied().collect();
        if all.len() <= MOST_HELD && may_be_engine(&all) {
            return Cow::Borrowed(&[]);
        }
        self.state = State::Open;
        Cow::Owned(all)
    }

    /// Decides about what is held back: returns the program's part and keeps the engine's.
    pub(super) fn release(&mut self, start: Start) -> Vec<u8> {
        let State::Holding(held) = std::mem::take(&mut self.state) else { return Vec::new() };
        let mut program = Vec::new();
        for (at, piece) in held {
            let before = match start {
                Start::At(start) => at < start,
                Start::Never => true,
            };
            if before && program.is_empty() { &mut self.engine } else { &mut program }
                .extend(piece);
        }
        program
    }

    /// Whether anything is held back.
    pub(super) fn holds(&self) -> bool {
        matches!(&self.state, State::Holding(held) if !held.is_empty())
    }

    /// What is held back.
    pub(super) fn held(&self) -> String {
        let State::Holding(held) = &self.state else { return String::new() };
        let bytes: Vec<u8> = held.iter().flat_map(|(_, piece)| piece).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What the engine said before the start.
    pub(super) fn engine_words(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.engine)
    }
}

/// Whether a stream that begins so may be the engine's.
fn may_be_engine(all: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| {
        let shared = beginning.len().min(all.len());
        beginning.as_bytes()[..shared] == all[..shared]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn sift(preamble: &mut Preamble, piece: &str, at: Instant) -> String {
        String::from_utf8(preamble.sift(piece.as_bytes(), at).into_owned()).unwrap()
    }

    #[test]
    fn what_no_engine_says_passes_at_once_and_everything_after_it() {
        let mut preamble = Preamble::expected();
        assert_eq!(sift(&mut preamble, "T", Instant::now()), "T");
        assert_eq!(sift(&mut preamble, "WARNING: x", Instant::now()), "WARNING: x");
        assert!(!preamble.holds());
    }

    #[test]
    fn a_beginning_that_comes_in_pieces_is_recognised_or_released_whole() {
        let mut preamble = Preamble::expected();
        assert_eq!(sift(&mut preamble, "WARN", Instant::now()), "");
        assert_eq!(sift(&mut preamble, "ED you\n", Instant::now()), "WARNED you\n");
    }

    #[test]
    fn the_start_of_the_container_parts_the_engines_words_from_the_programs() {
        let start = Instant::now();
        let before = start.checked_sub(Duration::from_millis(80)).unwrap();
        let after = start + Duration::from_millis(1);
        let mut preamble = Preamble::expected();
        assert_eq!(sift(&mut preamble, "WARNING: no swap limit\n", before), "");
        assert_eq!(sift(&mut preamble, "WARNING: mine\n", after), "");
        assert_eq!(preamble.release(Start::At(start)), b"WARNING: mine\n");
        assert_eq!(preamble.engine_words(), "WARNING: no swap limit\n");
        assert_eq!(sift(&mut preamble, "WARNING: again\n", after), "WARNING: again\n");
    }

    #[test]
    fn without_a_start_all_of_it_is_the_engines() {
        let mut preamble = Preamble::expected();
        sift(&mut preamble, "docker: Error response from daemon", Instant::now());
        assert_eq!(preamble.release(Start::Never), b"");
        assert_eq!(preamble.engine_words(), "docker: Error response from daemon");
    }

    #[test]
    fn a_flood_that_begins_like_an_engines_words_is_released_and_not_kept() {
        let mut preamble = Preamble::expected();
        let flood = format!("Error{}", "x".repeat(MOST_HELD));
        assert_eq!(sift(&mut preamble, &flood, Instant::now()).len(), flood.len());
    }
}
