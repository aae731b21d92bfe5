//! What a small program sees inside a container: the kernel's own account of the limits.

use std::collections::BTreeMap;

/// Prints the files that matter, each line after a word of its own. Nothing but the shell itself
/// is needed, whatever the image has.
pub(super) const SCRIPT: &str = r#"
say() {
  [ -r "$2" ] || return 0
  while IFS= read -r line || [ -n "$line" ]; do printf '%s %s\n' "$1" "$line"; done <"$2"
} 2>/dev/null
c=/sys/fs/cgroup
say status /proc/self/status
say limits /proc/self/limits
say users /proc/self/uid_map
say swaps /proc/swaps
say lsm /proc/self/attr/current
say v1.memory $c/memory/memory.limit_in_bytes
say v1.swap $c/memory/memory.memsw.limit_in_bytes
say v1.pids $c/pids/pids.max
say v1.quota $c/cpu/cpu.cfs_quota_us
say v1.period $c/cpu/cpu.cfs_period_us
say v2.memory $c/memory.max
say v2.swap $c/memory.swap.max
say v2.pids $c/pids.max
say v2.cpu $c/cpu.max
echo end here
"#;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Inside(BTreeMap<String, Vec<String>>);

impl Inside {
    /// Reads what [`SCRIPT`] printed; nothing where it was cut short.
    pub(super) fn parse(printed: &str) -> Option<Self> {
        let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (key, line) in printed.lines().filter_map(|line| line.split_once(' ')) {
            seen.entry(key.to_owned()).or_default().push(line.trim().to_owned());
        }
        seen.contains_key("end").then_some(Self(seen))
    }

    /// All lines of a file.
    pub(super) fn lines(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// The first line of a file.
    pub(super) fn line(&self, key: &str) -> Option<&str> {
        self.lines(key).first().map(String::as_str).filter(|line| !line.is_empty())
    }

    /// A file that is one number; `max` is as much as there can be.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        number(self.line(key)?)
    }

    /// A field of `/proc/self/status`.
    pub(super) fn status(&self, field: &str) -> Option<&str> {
        let named = |line: &'_ String| line.starts_with(&format!("{field}:"));
        let line = self.lines("status").iter().find(|line| named(line))?;
        line.split_once(':').map(|(_, value)| value.trim())
    }

    /// The hard limit of this name in `/proc/self/limits`.
    pub(super) fn hard_limit(&self, name: &str) -> Option<u64> {
        let rest = self.lines("limits").iter().find_map(|line| line.strip_prefix(name))?;
        number(&rest.split_whitespace().nth(1)?.replace("unlimited", "max"))
    }
}

pub(super) fn number(text: &str) -> Option<u64> {
    if text == "max" { Some(u64::MAX) } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_short_is_not_believed() {
        assert!(Inside::parse("status Seccomp:\t2\n").is_none());
        assert!(Inside::parse("garbage").is_none());
    }

    #[test]
    fn files_fields_and_limits_are_read() {
        let inside = Inside::parse(
            "status Name:\tsh\nstatus Seccomp:\t2\n\
             limits Max open files            256                  512                  files\n\
             limits Max core file size        0                    unlimited            bytes\n\
             v2.pids max\nv1.pids 64\nv2.cpu 50000 100000\nend here\n",
        )
        .unwrap();
        assert_eq!(inside.status("Seccomp"), Some("2"));
        assert_eq!(inside.hard_limit("Max open files"), Some(512));
        assert_eq!(inside.hard_limit("Max core file size"), Some(u64::MAX));
        assert_eq!(
            (inside.number("v2.pids"), inside.number("v1.pids")),
            (Some(u64::MAX), Some(64))
        );
        assert_eq!((inside.line("v2.cpu"), inside.line("lsm")), (Some("50000 100000"), None));
    }
}
