//! Asks a program of this machine about itself.

use std::time::Duration;

use serde::de::DeserializeOwned;

use super::error::OfflineError;
use crate::engine::command::{CommandError, CommandLine};

/// How long a program may take to tell where it is.
const ASK_BOUND: Duration = Duration::from_secs(20);

/// The most of an unusable answer that a message shows.
const SHOWN: usize = 80;

/// Runs the program and reads the JSON that it prints.
pub(super) fn ask<T: DeserializeOwned>(
    program: &'static str,
    args: &[&str],
) -> Result<T, OfflineError> {
    let said = CommandLine::new(program, args).run(ASK_BOUND).map_err(|error| match error {
        CommandError::NotFound { program: _ } => OfflineError::NotInstalled { program },
        source @ (CommandError::Spawn { .. }
        | CommandError::TimedOut { .. }
        | CommandError::Stopped { .. }
        | CommandError::Wait { .. }
        | CommandError::Feed { .. }) => OfflineError::Ask { program, source },
    })?;
    serde_json::from_slice(&said.stdout).map_err(|_| {
        let text = if said.success() { said.out() } else { said.err() };
        let shown: String = text.chars().take(SHOWN).collect();
        OfflineError::Answer { program, answer: format!("{shown:?}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_and_anything_else_is_shown_shortly() {
        assert_eq!(ask::<Vec<u8>>("sh", &["-c", "echo '[1, 2]'"]).unwrap(), [1, 2]);
        let unusable = ask::<Vec<u8>>("sh", &["-c", "echo no such thing >&2; exit 1"]).unwrap_err();
        assert_eq!(
            unusable.to_string(),
            "`sh` gave no usable answer about itself: \"no such thing\""
        );
        let missing = ask::<Vec<u8>>("no-such-interpreter", &[]).unwrap_err();
        assert_eq!(missing.to_string(), "this machine has no `no-such-interpreter`");
    }
}
