//! Room on the disk that images and containers live on, where it is a disk of this machine.

use std::fs;

use rustix::fs::statvfs;

use super::finding::Finding;
use crate::images::table::size;

/// Less than this is little: an image is often larger.
const LITTLE: u64 = 1_000_000_000;

pub(super) fn check(root: Option<&str>, host: Option<&str>) -> Finding {
    let Some(root) = root else {
        return Finding::unknown("disk", "the engine does not tell where its files are");
    };
    if host.is_none() || host != this_host().as_deref() {
        let why = format!("{root} is on the engine's own machine, which is not this one");
        return Finding::unknown("disk", why);
    }
    match statvfs(root) {
        Ok(stat) => judge(root, stat.f_bavail.saturating_mul(stat.f_frsize)),
        Err(error) => Finding::unknown("disk", format!("{root}: {error}")),
    }
}

fn judge(root: &str, free: u64) -> Finding {
    let found = format!("{} free at {root}", size(free));
    if free < LITTLE {
        let fix = "`docker system df` shows what takes it, `docker image prune` gives some back";
        Finding::weak("disk", found, fix)
    } else {
        Finding::ok("disk", found)
    }
}

fn this_host() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    #[test]
    fn a_full_disk_is_weak_and_a_disk_elsewhere_unknown() {
        assert_eq!(judge("/x", 999_999_999).state, State::Weak);
        assert_eq!(judge("/x", 1_000_000_000).state, State::Ok);
        assert_eq!(check(Some("/"), Some("somewhere.else")).state, State::Unknown);
        assert_eq!(check(None, None).state, State::Unknown);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_disk_of_this_machine_is_measured() {
        let found = check(Some("/"), this_host().as_deref());
        assert!(found.found.ends_with(" free at /"), "{found:?}");
    }
}
