//! Containers of das that should be gone.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::ask::ask;
use super::finding::Finding;
use crate::engine::{Engine, EngineKind};
use crate::policy::SandboxPolicy;
use crate::tag::{EXPIRES_LABEL, LABEL};

pub(super) fn check(engine: &Engine, _: &SandboxPolicy) -> Vec<Finding> {
    let filter = format!("label={LABEL}");
    let format = match engine.facts().kind {
        // It cannot be asked for one label.
        EngineKind::Podman => "json".to_owned(),
        EngineKind::Docker | EngineKind::Nerdctl => {
            format!(r#"{{{{.Names}}}} {{{{.Label "{EXPIRES_LABEL}"}}}}"#)
        }
    };
    let args = ["ps", "--all", "--filter", &filter, "--format", &format];
    let listed = ask(engine, &args).map(|listed| match engine.facts().kind {
        EngineKind::Podman => rows_of_podman(&listed),
        EngineKind::Docker | EngineKind::Nerdctl => listed,
    });
    vec![match listed {
        Ok(listed) => judge(engine, &listed, now()),
        Err(silence) => Finding::unknown("leftovers", silence.said),
    }]
}

/// The same rows as Docker's: each a name and an expiry.
pub(super) fn rows_of_podman(listed: &str) -> String {
    let containers: Vec<Value> = serde_json::from_str(listed).unwrap_or_default();
    let row = |container: &Value| {
        let name = container["Names"][0].as_str()?;
        let expires = container["Labels"][EXPIRES_LABEL].as_str()?;
        Some(format!("{name} {expires}\n"))
    };
    containers.iter().filter_map(row).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// An image can hand labels on to any container, so the name has to be das's own as well.
pub(super) fn judge(engine: &Engine, listed: &str, now: u64) -> Finding {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn podmans_containers_are_read_and_strangers_passed_over() {
        let listed = format!(
            r#"[{{"Names": ["das-0123456789abcdef"], "Labels": {{"{EXPIRES_LABEL}": "5"}}}},
                {{"Names": ["other"], "Labels": null}}, 3]"#
        );
        assert_eq!(rows_of_podman(&listed), "das-0123456789abcdef 5\n");
        assert_eq!(rows_of_podman("garbage"), "");
    }
}
