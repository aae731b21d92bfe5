//! Containers of das that should be gone.

use std::time::{SystemTime, UNIX_EPOCH};

use super::ask::ask;
use super::finding::Finding;
use crate::engine::Engine;
use crate::policy::SandboxPolicy;
use crate::tag::{EXPIRES_LABEL, LABEL};

pub(super) fn check(engine: &Engine, _: &SandboxPolicy) -> Vec<Finding> {
    let filter = format!("label={LABEL}");
    let format = format!(r#"{{{{.Names}}}} {{{{.Label "{EXPIRES_LABEL}"}}}}"#);
    let args = ["ps", "--all", "--filter", &filter, "--format", &format];
    vec![match ask(engine, &args) {
        Ok(listed) => judge(engine, &listed, now()),
        Err(silence) => Finding::unknown("leftovers", silence.said),
    }]
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// An image can hand labels on to any container, so the name has to be das's own as well.
fn judge(engine: &Engine, listed: &str, now: u64) -> Finding {
    let rows = listed.lines().filter_map(|line| {
        let (name, expires) = line.split_once(' ')?;
        Some((name, expires.trim().parse::<u64>().ok()?))
    });
    let ours: Vec<(&str, u64)> = rows.filter(|(name, _)| is_name(name)).collect();
    let late: Vec<&str> =
        ours.iter().filter(|(_, expires)| *expires < now).map(|(name, _)| *name).collect();
    let alive = ours.len() - late.len();
    if late.is_empty() {
        let at_work = if alive == 0 { String::new() } else { format!(", {alive} at work") };
        return Finding::ok("leftovers", format!("no container of das outlived its time{at_work}"));
    }
    let found = match late.as_slice() {
        [one] => format!("1 container of das outlived its time: {one}"),
        many => {
            format!("{} containers of das outlived their time: {}", many.len(), many.join(", "))
        }
    };
    let facts = engine.facts();
    let remove = facts.kind.remove_command().join(" ");
    let fix = format!("`{} {remove} {}` removes them", facts.program, late.join(" "));
    Finding::weak("leftovers", found, &fix)
}

fn is_name(name: &str) -> bool {
    let id = name.strip_prefix("das-").unwrap_or_default();
    id.len() == 16 && id.chars().all(|c| c.is_ascii_hexdigit())
}
