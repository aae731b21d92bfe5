//! das's own filter: the system calls that Python, Node.js and shells need, and no others.
//!
//! Found by tracing the interpreters' own tests and the examples, and kept small on purpose: a
//! call that is refused fails with `EPERM` and the program goes on. It allows 204 calls, of which
//! `x86_64` has 203; Docker's own profile allows 291 there in 20.10.24 and 308 in 28.5.2. What
//! programs miss: `memfd_create`, `splice`, System V shared memory, real-time scheduling, changes
//! of identity, and sockets of other families, which Node.js's `os.networkInterfaces()` needs.

use serde_json::{Value, json};

/// Calls that are allowed whatever their arguments, on `x86_64` and `aarch64`. A name that one of
/// the two lacks is passed over there.
pub const ALLOWED: &[&[&str]] = &[
    // Open files, and what lies in them.
    &[
        "close",
        "close_range",
        "creat",
        "dup",
        "dup2",
        "dup3",
        "fcntl",
        "flock",
        "ioctl",
        "lseek",
        "open",
    ],
    &["openat", "pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read"],
    &["readv", "write", "writev", "copy_file_range", "fadvise64", "fallocate", "fdatasync"],
    &["fsync", "ftruncate", "sendfile", "sync", "truncate", "umask"],
    // Directories and names. Fifos are made by `mknod`; devices need a capability.
    &["access", "chdir", "faccessat", "faccessat2", "fchdir", "getcwd", "getdents", "getdents64"],
    &["link", "linkat", "mkdir", "mkdirat", "mknod", "mknodat", "readlink", "readlinkat"],
    &["rename", "renameat", "renameat2", "rmdir", "symlink", "symlinkat", "unlink", "unlinkat"],
    // What is known of a file.
    &["chmod", "chown", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "fstat"],
    &["fstatfs", "lchown", "lstat", "newfstatat", "stat", "statfs", "statx", "utime", "utimensat"],
    &["utimes", "fgetxattr", "flistxattr", "getxattr", "lgetxattr", "listxattr", "llistxattr"],
    // Memory.
    &["brk", "madvise", "mlock", "mmap", "mprotect", "mremap", "msync", "munlock", "munmap"],
    // Processes and threads. `clone` has a rule of its own.
    &["arch_prctl", "execve", "exit", "exit_group", "fork", "futex", "get_robust_list", "kill"],
    &["membarrier", "pidfd_open", "pidfd_send_signal", "prctl", "rseq", "sched_get_priority_max"],
    &["sched_get_priority_min", "sched_getaffinity", "sched_getparam", "sched_getscheduler"],
    &["sched_setaffinity", "sched_yield", "set_robust_list", "set_tid_address", "setpgid"],
    &["setpriority", "setrlimit", "setsid", "tgkill", "tkill", "vfork", "wait4", "waitid"],
    // Who and where it is.
    &["capget", "getcpu", "getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp"],
    &["getpid", "getppid", "getpriority", "getrandom", "getresgid", "getresuid", "getrlimit"],
    &["getrusage", "getsid", "gettid", "getuid", "prlimit64", "sysinfo", "times", "uname"],
    // Signals and time.
    &["alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "gettimeofday"],
    &["nanosleep", "pause", "restart_syscall", "rt_sigaction", "rt_sigpending", "rt_sigprocmask"],
    &["rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "setitimer"],
    &["sigaltstack", "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime"],
    &["timer_settime", "timerfd_create", "timerfd_gettime", "timerfd_settime"],
    // Waiting for many things at once.
    &["epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2"],
    &["inotify_add_watch", "inotify_init1", "inotify_rm_watch", "pipe", "pipe2", "poll", "ppoll"],
    &["pselect6", "select"],
    // Sockets. `socket` has a rule of its own.
    &["accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt"],
    &["listen", "recvfrom", "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt"],
    &["shutdown", "socketpair"],
];

/// Newer calls that C libraries try first and do without where the kernel does not know them.
pub const UNKNOWN: &[&str] = &[
    "cachestat",
    "clone3",
    "epoll_pwait2",
    "execveat",
    "futex_requeue",
    "futex_wait",
    "futex_waitv",
    "futex_wake",
    "io_uring_setup",
    "map_shadow_stack",
    "mseal",
    "openat2",
    "process_madvise",
];

/// The families of sockets: `AF_UNIX`, `AF_INET` and `AF_INET6`.
const FAMILIES: [u32; 3] = [1, 2, 10];

/// The flags of `clone` that make a namespace, of which none may be there.
const NAMESPACES: u32 = 0x7e02_0000;

/// The error of a call that the kernel does not know, `ENOSYS`.
const NO_SUCH_CALL: u32 = 38;

/// The profile as engines read it. The same text every time.
pub fn profile() -> String {
    let mut names: Vec<&str> = ALLOWED.iter().copied().flatten().copied().collect();
    names.sort_unstable();
    let mut rules = vec![
        json!({"names": names, "action": "SCMP_ACT_ALLOW"}),
        json!({"names": ["clone"], "action": "SCMP_ACT_ALLOW",
            "args": [argument(NAMESPACES, "SCMP_CMP_MASKED_EQ")]}),
    ];
    rules.extend(FAMILIES.map(|family| {
        json!({"names": ["socket"], "action": "SCMP_ACT_ALLOW",
            "args": [argument(family, "SCMP_CMP_EQ")]})
    }));
    rules.push(json!({"names": UNKNOWN, "action": "SCMP_ACT_ERRNO", "errnoRet": NO_SUCH_CALL}));
    let profile = json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        // No 32-bit calls: their numbers would need a table of their own.
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
        ],
        "syscalls": rules,
    });
    let mut text = serde_json::to_string_pretty(&profile).expect("a profile is plain data");
    text.push('\n');
    text
}

/// A condition on a call's first argument.
fn argument(value: u32, comparison: &str) -> Value {
    json!({"index": 0, "value": value, "valueTwo": 0, "op": comparison})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn allowed() -> Vec<&'static str> {
        ALLOWED.iter().copied().flatten().copied().collect()
    }

    #[test]
    fn every_name_stands_there_once() {
        let (all, new) = (allowed(), UNKNOWN.to_vec());
        let names: BTreeSet<&str> = all.iter().chain(&new).copied().collect();
        assert_eq!(names.len(), all.len() + new.len());
        assert!(names.iter().all(|name| !["clone", "socket"].contains(name)));
    }

    #[test]
    fn what_an_interpreter_never_needs_is_not_allowed() {
        for name in [
            "acct",
            "add_key",
            "bpf",
            "chroot",
            "delete_module",
            "fanotify_init",
            "finit_module",
            "fsopen",
            "init_module",
            "io_setup",
            "io_uring_enter",
            "io_uring_register",
            "ioperm",
            "iopl",
            "kcmp",
            "kexec_load",
            "keyctl",
            "lookup_dcookie",
            "mbind",
            "memfd_create",
            "memfd_secret",
            "modify_ldt",
            "mount",
            "mount_setattr",
            "move_mount",
            "msgget",
            "name_to_handle_at",
            "open_by_handle_at",
            "open_tree",
            "perf_event_open",
            "personality",
            "pidfd_getfd",
            "pivot_root",
            "process_vm_readv",
            "process_vm_writev",
            "ptrace",
            "quotactl",
            "reboot",
            "request_key",
            "seccomp",
            "semget",
            "sethostname",
            "setns",
            "settimeofday",
            "setuid",
            "shmget",
            "splice",
            "swapon",
            "syslog",
            "tee",
            "umount2",
            "unshare",
            "userfaultfd",
            "vmsplice",
        ] {
            assert!(!allowed().contains(&name), "{name}");
        }
    }

    #[test]
    fn the_documented_count_is_the_real_one() {
        // `clone` and `socket` are allowed with some arguments.
        assert_eq!(allowed().len() + 2, COUNT);
    }

    /// What the documentation says.
    const COUNT: usize = 204;
}
