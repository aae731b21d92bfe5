//! `das explain`: what it prints is what `das run` executes, for every policy.

pub(crate) mod any_policy;
mod argv;
mod text;
mod what_runs;

use crate::support::{Das, StandIn};

/// The words of a command line, with a word of its own for each thing that differs from run to
/// run: the container's name, its owner and its expiry.
fn comparable(words: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    let known = [
        ("das-", "das-[ID]"),
        ("docker-agent-sandbox.owner=", "[OWNER]"),
        ("docker-agent-sandbox.expires=", "[EXPIRY]"),
    ];
    let mut words: Vec<String> = words.into_iter().map(Into::into).collect();
    for index in 1..words.len() {
        let belongs = ["--name", "--label"].contains(&words[index - 1].as_str());
        let hit = known.iter().find(|(start, _)| belongs && words[index].starts_with(start));
        if let Some((_, word)) = hit {
            words[index].clear();
            words[index].push_str(word);
        }
    }
    words
}

/// The words that `das explain --json` prints.
#[track_caller]
fn explained(stand_in: &StandIn, args: &[&str]) -> Vec<String> {
    let explain = Das::new(stand_in).args(["explain", "--json"]).args(args.iter().copied());
    let finished = explain.output();
    assert_eq!(finished.stderr_text(), "");
    serde_json::from_slice(&finished.stdout).expect("an array of words")
}
