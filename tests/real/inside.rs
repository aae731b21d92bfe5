//! What a program in the sandbox sees of its own walls.

use std::collections::BTreeMap;

use crate::support::{Cli, Language};

/// The files that tell of the walls. Those of the other version of control groups are missing.
const PATHS: [&str; 14] = [
    "/proc/self/status",
    "/proc/self/limits",
    "/proc/self/mountinfo",
    "/proc/net/dev",
    "/proc/self/environ",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory.swap.max",
    "/sys/fs/cgroup/pids/pids.max",
    "/sys/fs/cgroup/pids.max",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "/sys/fs/cgroup/cpu.max",
];

/// A report from inside.
#[derive(Debug)]
pub(super) struct Inside(BTreeMap<String, String>);

impl Inside {
    /// The program that reports.
    pub(super) fn program(language: Language) -> String {
        language.reports(&PATHS)
    }

    /// Runs the program with this command and reads its report.
    #[track_caller]
    pub(super) fn of(run: &Cli<'_>) -> Self {
        let finished = run.output();
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr_text());
        let text = finished.stdout_text();
        let parts = text.split("==> ").filter_map(|part| part.split_once('\n'));
        Self(parts.map(|(name, text)| (name.to_owned(), text.trim_end().to_owned())).collect())
    }

    pub(super) fn part(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("no `{name}` in {self:?}"))
    }

    /// A line of `/proc/self/status`.
    pub(super) fn status(&self, name: &str) -> String {
        let lines = self.part("/proc/self/status").lines();
        let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        values.next().unwrap_or_else(|| panic!("no `{name}` in {self:?}")).trim().to_owned()
    }

    /// A line of `/proc/self/limits`: the soft and the hard limit.
    pub(super) fn limit(&self, name: &str) -> (String, String) {
        let mut lines = self.part("/proc/self/limits").lines();
        let line = lines.find_map(|line| line.strip_prefix(name));
        let mut words = line.expect("a limit of the kernel's").split_whitespace();
        let mut word = || words.next().expect("two values").to_owned();
        (word(), word())
    }

    /// The options of the mount at a path: those of the mount, and those of its file system.
    pub(super) fn mount(&self, path: &str) -> (Vec<&str>, Vec<&str>) {
        let lines = self.part("/proc/self/mountinfo").lines();
        let mount = lines.map(|line| line.split(' ').collect::<Vec<_>>()).find(|it| it[4] == path);
        let mount = mount.unwrap_or_else(|| panic!("no mount at {path} in {self:?}"));
        let last = mount.last().expect("a line of words");
        (mount[5].split(',').collect(), last.split(',').collect())
    }

    pub(super) fn interfaces(&self) -> Vec<&str> {
        let lines = self.part("/proc/net/dev").lines();
        lines.filter_map(|line| Some(line.split_once(':')?.0.trim())).collect()
    }

    pub(super) fn environment(&self) -> BTreeMap<&str, &str> {
        self.part("/proc/self/environ").split('\0').filter_map(|it| it.split_once('=')).collect()
    }

    /// What the control group says, in the words of the second version.
    pub(super) fn memory(&self) -> &str {
        self.first_of(&["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"])
    }

    /// The bytes of swap on top of the memory.
    pub(super) fn swap(&self) -> u64 {
        let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
        let both = "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes";
        match self.found("/sys/fs/cgroup/memory.swap.max") {
            Some(swap) => number(swap),
            None => number(self.part(both)).saturating_sub(number(self.memory())),
        }
    }

    pub(super) fn pids(&self) -> &str {
        self.first_of(&["/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"])
    }

    /// The processors' worth of time; none where it is not limited.
    pub(super) fn cpus(&self) -> Option<f64> {
        let v1 = ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
            .map(|name| self.found(&format!("/sys/fs/cgroup/cpu/{name}")));
        let (quota, period) = match (self.found("/sys/fs/cgroup/cpu.max"), v1) {
            (Some(both), _) => both.split_once(' ').expect("a quota and a period"),
            (None, [Some(quota), Some(period)]) => (quota, period),
            (None, _) => panic!("no quota in {self:?}"),
        };
        let number = |text: &str| text.parse::<f64>().ok().filter(|&it| it > 0.0);
        Some(number(quota)? / number(period)?)
    }

    /// What became of an attempt.
    pub(super) fn succeeded(&self, attempt: &str) -> bool {
        match self.part(attempt) {
            "done" => true,
            text if text.starts_with("failed: ") => false,
            text => panic!("the attempt `{attempt}` says {text:?}"),
        }
    }

    fn found(&self, path: &str) -> Option<&str> {
        Some(self.part(path)).filter(|text| !text.starts_with("failed: "))
    }

    fn first_of(&self, paths: &[&str]) -> &str {
        let mut found = paths.iter().filter_map(|path| self.found(path));
        found.next().unwrap_or_else(|| panic!("none of {paths:?} in {self:?}"))
    }
}
