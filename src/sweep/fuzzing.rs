//! What holds of every list of containers and of every judgement. For fuzzers and tests.

use super::judge::{Judgement, Process, RemoveReason, judge};
use super::listing::{Found, State, parse};
use crate::tag::Owner;

/// This process, as the labels of its containers name it.
const HERE: &str = "1bff361e1d97.4026531836.100.5000";
const NOW: u64 = 1_800_000_000;

/// Takes the input for a list of containers.
pub(crate) fn listing(input: &[u8]) {
    let (found, others) = parse(input);
    let lines = input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    assert_eq!(found.len() + others, lines.count(), "every line is read or counted");
    found.iter().for_each(container);
}

/// No more is removed than was left behind, and only by a name that could be nothing else.
fn container(found: &Found) {
    let Found { id, name, state, owner, expires } = found;
    assert!(id.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert!(name.as_str().starts_with("das-") && name.as_str().len() == 20, "{name}");
    if let Some(owner) = owner {
        assert_eq!(owner.to_string().parse().as_ref(), Ok(owner));
    }
    let here: Owner = HERE.parse().expect("an owner");
    let ours = matches!(owner, Some(Owner::Process { boot, namespace, .. })
        if boot == "1bff361e1d97" && *namespace == 4_026_531_836);
    let by = |process: Process| judge(found, &here, NOW, |_| process);
    let removed = |judgement| matches!(judgement, Judgement::Remove(_));
    assert!(!(ours && removed(by(Process::There))), "its owner lives");
    if ours {
        assert_eq!(by(Process::Gone), Judgement::Remove(RemoveReason::OwnerGone));
    } else {
        assert_eq!(by(Process::Gone), by(Process::There), "that process is another");
        let expired = expires.is_some_and(|expires| expires < NOW);
        let pasted = *owner == Some(Owner::Nobody) && *state == State::Running;
        assert!(expired && !pasted || !removed(by(Process::Gone)), "{found:?}");
    }
}
