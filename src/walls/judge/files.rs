//! What a program can change, and what of the host it finds.

use super::{Fault, Holding, Judgement, broken, has_its_own_kernel, held, listed, refused};
use crate::walls::evidence::{Evidence, Run};
use crate::walls::facts::{Answer, Facts};
use crate::work_dir;

/// Places where engines mount files of their own.
const ENGINE_FILES: [&str; 5] =
    ["/etc/resolv.conf", "/etc/hostname", "/etc/hosts", "/run/.containerenv", "/etc/passwd"];

/// File systems that are the kernel's or memory, where engines mount them.
const KERNEL_TYPES: [&str; 9] =
    ["proc", "sysfs", "tmpfs", "devpts", "devtmpfs", "mqueue", "cgroup", "cgroup2", "ramfs"];

/// What every container finds in `/dev`.
const USUAL_DEVICES: [&str; 16] = [
    "console", "core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr",
    "stdin", "stdout", "tty", "urandom", "zero",
];

/// What gVisor adds to them: devices of its own kernel, not of this machine.
const GVISOR_DEVICES: [&str; 2] = ["fuse", "net"];

/// Files of the kernel that must be covered by something, or not be there.
const COVERED: [&str; 5] =
    ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/sys/firmware"];

/// Files of the kernel that must be mounted read-only, or not be there.
const LOCKED: [&str; 2] = ["/proc/sys", "/proc/sysrq-trigger"];

/// How memory is mounted where programs may write.
const GUARDS: [&str; 3] = ["noexec", "nosuid", "nodev"];

/// What of it gVisor shows. It has the others, and no program in it becomes root.
const GVISOR_GUARDS: [&str; 1] = ["noexec"];

/// The size of `/dev/shm` that engines give, in KiB.
const SHM_KIB: u64 = 64 * 1024;

pub(in crate::walls) fn filesystem(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let Some(attempt) = facts.attempt("root") else {
        return Err(Fault::unknown("the probe did not try to write to the image"));
    };
    let read_only = |text: &str| text.contains("Read-only file system") || text.contains("EROFS");
    match &attempt.answer {
        Answer::Refused(answer) if read_only(answer) => held(attempt.told()),
        // A kernel that asks for the permission first; then the mount itself must say it.
        Answer::Refused(_) if mounts(facts)?.iter().any(|it| it.point == "/" && it.has("ro")) => {
            held(format!("{}; / is mounted read-only", attempt.told()))
        }
        Answer::Refused(_) => broken(format!("{}, yet / is not read-only", attempt.told())),
        Answer::Allowed(_) => broken(attempt.told()),
    }
}

pub(in crate::walls) fn scratch(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let mounts = mounts(facts)?;
    let options: &[&str] =
        if has_its_own_kernel(evidence, facts) { &GVISOR_GUARDS } else { &GUARDS };
    if let Some(other) = mounts.iter().find(|mount| mount.is_more_scratch()) {
        return broken(format!("{} is writable memory too", other.point));
    }
    let Some(tmp) = mounts.iter().rfind(|mount| mount.point == "/tmp") else {
        return broken("/tmp is not a file system of its own");
    };
    guarded(tmp, options)?;
    let promised = evidence.promised.tmpfs_mb * 1024;
    match tmp.size_kib() {
        Some(size) if size > promised => {
            return broken(format!("/tmp has {} MiB, not {}", size / 1024, promised / 1024));
        }
        None if facts.attempt("tmp-fill").is_none() => {
            return Err(Fault::unknown("the kernel does not show the size of /tmp"));
        }
        Some(_) | None => {}
    }
    if let Some(Answer::Refused(why)) = facts.attempt("tmp-create").map(|it| &it.answer) {
        return broken(format!("no file can be created in /tmp: {why}"));
    }
    if let Some(shm) = mounts.iter().rfind(|mount| mount.point == "/dev/shm") {
        guarded(shm, options)?;
        if let Some(size) = shm.size_kib().filter(|&size| size > SHM_KIB) {
            return broken(format!("/dev/shm has {} MiB", size / 1024));
        }
    }
    let executed = refused(facts, "tmp-exec")?;
    let filled = refused(facts, "tmp-fill")?;
    let size = format!("/tmp: {} MiB, {}", promised / 1024, options.join(", "));
    held(filled.or(executed).map_or_else(|| size.clone(), |answer| format!("{size}; {answer}")))
}

fn guarded(mount: &Mount<'_>, options: &[&str]) -> Result<(), Fault> {
    match options.iter().find(|option| !mount.has(option)) {
        Some(option) => broken(format!("{} is not mounted {option}", mount.point)),
        None => Ok(()),
    }
}

pub(in crate::walls) fn host(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let mounts = mounts(facts)?;
    let granted = evidence.promised.mount.as_deref();
    if let Some(strange) = mounts.iter().find(|mount| !mount.is_usual(granted)) {
        return broken(format!("{} of this machine is mounted at {}", strange.root, strange.point));
    }
    if let Some(socket) = listed(facts, "sockets")?.first() {
        return broken(format!("there is a container socket: {socket}"));
    }
    let devices = listed(facts, "devices")?;
    let own_kernel = has_its_own_kernel(evidence, facts);
    let usual = |name: &&String| {
        USUAL_DEVICES.contains(&name.as_str())
            || own_kernel && GVISOR_DEVICES.contains(&name.as_str())
    };
    if let Some(device) = devices.iter().find(|name| !usual(name)) {
        return broken(format!("there is a device of this machine: /dev/{device}"));
    }
    let kernels = if own_kernel {
        "/proc and /sys are gVisor's own"
    } else {
        masked(facts, &mounts)?;
        "/proc and /sys masked"
    };
    let seen = format!("{} devices, none of this machine; {kernels}", devices.len());
    match granted {
        Some(mount) => Ok(Holding::Open(format!("the policy mounts {mount}; {seen}"))),
        None => held(format!("nothing of this machine is mounted; {seen}")),
    }
}

fn masked(facts: &Facts, mounts: &[Mount<'_>]) -> Result<(), Fault> {
    let there = listed(facts, "sensitive")?;
    let is_there = |path: &&&str| there.iter().any(|it| it == **path);
    let mount = |path: &str| mounts.iter().rfind(|mount| mount.point == path);
    if let Some(path) = COVERED.iter().filter(is_there).find(|path| mount(path).is_none()) {
        return broken(format!("{path} is not masked"));
    }
    let locked = |path: &&&str| !mount(path).is_some_and(|mount| mount.has("ro"));
    if let Some(path) = LOCKED.iter().filter(is_there).find(locked) {
        return broken(format!("{path} is not read-only"));
    }
    if mount("/sys").is_some_and(|sys| !sys.has("ro")) {
        return broken("/sys is not read-only");
    }
    Ok(())
}

/// One line of `/proc/self/mountinfo`.
struct Mount<'a> {
    /// What of its file system is mounted.
    root: &'a str,
    point: &'a str,
    options: &'a str,
    kind: &'a str,
    /// The options of the file system itself.
    own_options: &'a str,
}

fn mounts(facts: &Facts) -> Result<Vec<Mount<'_>>, Fault> {
    Ok(listed(facts, "mounts")?.iter().filter_map(|line| Mount::parse(line)).collect())
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (place, system) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point, options) = (place.next()?, place.next()?, place.next()?);
        let mut system = system.split(' ');
        let (kind, _, own_options) = (system.next()?, system.next()?, system.next()?);
        Some(Self { root, point, options, kind, own_options })
    }

    fn has(&self, option: &str) -> bool {
        self.options.split(',').any(|it| it == option)
    }

    fn size_kib(&self) -> Option<u64> {
        let size = self.own_options.split(',').find_map(|it| it.strip_prefix("size="))?;
        let kib = |unit: char, factor: u64| {
            size.strip_suffix(unit)?.parse::<u64>().ok().map(|number| number * factor)
        };
        kib('k', 1)
            .or_else(|| kib('m', 1024))
            .or_else(|| kib('g', 1024 * 1024))
            .or_else(|| size.parse::<u64>().ok().map(|bytes| bytes / 1024))
    }

    fn is_below(&self, trees: &[&str]) -> bool {
        let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        trees.iter().any(|tree| self.point.strip_prefix(tree).is_some_and(below))
    }

    /// Whether it is memory that programs could write to, beside `/tmp` and what `/dev` has.
    fn is_more_scratch(&self) -> bool {
        self.kind == "tmpfs"
            && self.root == "/"
            && !self.has("ro")
            && !self.is_below(&["/tmp", "/dev", "/proc", "/sys"])
    }

    /// Whether every container has it, or the policy grants it.
    fn is_usual(&self, granted: Option<&str>) -> bool {
        let kernels = self.is_below(&["/proc", "/sys", "/dev", "/run"]);
        self.point == "/"
            || ENGINE_FILES.contains(&self.point)
            || (kernels || self.point == "/tmp") && KERNEL_TYPES.contains(&self.kind)
            || self.point == work_dir::TARGET && granted.is_some()
    }
}
