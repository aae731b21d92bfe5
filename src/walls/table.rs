//! The table of walls.
//!
//! The sentences go into shell comments as well: no quotes, backticks, dollar signs or backslashes.

use super::evidence::Run;
use super::{Flag, Probe, Row, Wall, judge};

const fn flag(starts: &'static str, does: &'static str) -> Flag {
    Flag { starts, does }
}

/// Every wall, in the order in which they are shown.
pub const WALLS: [Row; 18] = [
    Row {
        wall: Wall::Network,
        name: "network",
        stops: "The program reaches no address outside its container: not the internet, not this \
                machine, not a cloud metadata service, and no DNS.",
        open: "A loopback of its own, on which it may talk to itself.",
        plain: "reach the internet, this machine, its network and any cloud metadata service",
        flags: &[flag("--network", "no network but a loopback of its own")],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts], judge: judge::network },
    },
    Row {
        wall: Wall::Filesystem,
        name: "filesystem",
        stops: "The program changes no file of the image and adds none to it.",
        open: "It reads every file of the image that its user may read.",
        plain: "change, add and delete files, as root, as long as the disk has room",
        flags: &[flag("--read-only", "the image cannot be changed")],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts], judge: judge::filesystem },
    },
    Row {
        wall: Wall::Scratch,
        name: "scratch",
        stops: "Files in /tmp and /dev/shm are small in sum, count as memory, gain nobody \
                privileges and cannot be executed.",
        open: "An interpreter still runs a script from there: sh /tmp/x works, /tmp/x does not.",
        plain: "fill the disk of this machine through /tmp, and execute what it puts there",
        flags: &[
            flag("--tmpfs", "a small /tmp in memory that starts no programs"),
            flag("--read-only-tmpfs=", "no other memory to write to, where the engine adds some"),
            flag("--workdir", "the program begins where it may write"),
        ],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts], judge: judge::scratch },
    },
    Row {
        wall: Wall::Host,
        name: "host",
        stops: "The program finds no directory, device or container socket of this machine, and \
                /proc and /sys are masked.",
        open: "The kernel is shared: its version, load and uptime can be read.",
        plain: "see the same masked /proc and /sys; one -v more, and it has the disk",
        flags: &[
            flag("-i", "the program comes through a pipe, so nothing is mounted for it"),
            flag("--mount", "the one directory that the policy grants, at /work"),
        ],
        mechanism: Some("mounts nothing but the one directory that a policy names"),
        probe: Probe { runs: &[Run::Facts], judge: judge::host },
    },
    Row {
        wall: Wall::User,
        name: "user",
        stops: "The program is not root and cannot become root.",
        open: "Files of the image that everybody may read.",
        plain: "be root in its container, one kernel fault away from root on this machine",
        flags: &[flag("--user", "an unprivileged user and group, never root")],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts], judge: judge::user },
    },
    Row {
        wall: Wall::Capabilities,
        name: "capabilities",
        stops: "The program has none of the pieces into which the power of root is divided, and \
                cannot get one back.",
        open: "What a user without any capability may do.",
        plain: "use 14 capabilities, among them raw packets, foreign files and device nodes",
        flags: &[flag("--cap-drop", "no capability, not even for a later root")],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts], judge: judge::capabilities },
    },
    Row {
        wall: Wall::NewPrivileges,
        name: "new-privileges",
        stops: "A setuid program such as su gives the program nothing that it did not have.",
        open: "Such a program still runs, without its privileges.",
        plain: "gain privileges through any setuid program in the image",
        flags: &[flag("--security-opt no-new-privileges", "setuid programs gain nothing")],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts], judge: judge::new_privileges },
    },
    Row {
        wall: Wall::Syscalls,
        name: "syscalls",
        stops: "The kernel refuses the system calls that programs never need and attacks often \
                do: mount, unshare, keyctl, bpf and their like.",
        open: "The system calls that the profile allows, and with them the faults of the kernel \
               behind those.",
        plain: "use the same filter: the default profile of the engine",
        flags: &[
            flag("--security-opt seccomp=", "a tighter filter of system calls"),
            flag("--runtime", "the runtime that must run the container, or nothing does"),
        ],
        mechanism: Some(
            "sets no looser filter than the default of the engine, unless a policy names one",
        ),
        probe: Probe { runs: &[Run::Facts], judge: judge::syscalls },
    },
    Row {
        wall: Wall::Memory,
        name: "memory",
        stops: "A program that takes too much memory dies, files in /tmp and /dev/shm counted in, \
                and it gets no swap.",
        open: "All the memory that the policy grants.",
        plain: "take all memory and swap of this machine until other programs die",
        flags: &[
            flag("--memory", "more than this, and the kernel ends the program"),
            flag("--memory-swap", "the same with swap: so there is no swap"),
        ],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts, Run::Memory], judge: judge::memory },
    },
    Row {
        wall: Wall::Cpu,
        name: "cpu",
        stops: "The program cannot take more than its share of the processors.",
        open: "That share, for as long as the deadline allows.",
        plain: "keep every processor of this machine busy",
        flags: &[flag("--cpus", "a share of the processors")],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts, Run::Cpu], judge: judge::cpu },
    },
    Row {
        wall: Wall::Pids,
        name: "pids",
        stops: "A fork bomb stops at the limit, and this machine does not feel it.",
        open: "As many processes and threads as the policy grants.",
        plain: "start processes until this machine has none left to give",
        flags: &[
            flag("--pids-limit", "a fork bomb stops here"),
            flag(
                "--ulimit nproc=",
                "what this user may be granted, where the engine has to be told",
            ),
        ],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts, Run::Pids], judge: judge::pids },
    },
    Row {
        wall: Wall::Descriptors,
        name: "descriptors",
        stops: "A process cannot hold more open files than the limit.",
        open: "That many in each process.",
        plain: "open as many files as the engine was started with, often a million",
        flags: &[flag("--ulimit nofile=", "open files of each process")],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts], judge: judge::descriptors },
    },
    Row {
        wall: Wall::CoreDumps,
        name: "core-dumps",
        stops: "A crash writes no image of its memory anywhere.",
        open: "Where this machine pipes core dumps to a handler of its own, the kernel starts \
               the handler all the same, and it is up to that handler to refuse.",
        plain: "write core dumps as large as its memory to the disk, or to a handler of this machine",
        flags: &[flag("--ulimit core=", "a crash writes no core dump")],
        mechanism: None,
        probe: Probe { runs: &[Run::Facts], judge: judge::core_dumps },
    },
    Row {
        wall: Wall::Time,
        name: "time",
        stops: "At the deadline the program is killed, whatever signals it ignores.",
        open: "Until the deadline it may do what the other walls let it.",
        plain: "run for ever, and go on running when its client is killed",
        flags: &[
            flag("--name", "the name by which das kills it"),
            flag("--pull", "no download eats into the time"),
        ],
        mechanism: Some("kills the container at the deadline"),
        probe: Probe { runs: &[Run::Time], judge: judge::time },
    },
    Row {
        wall: Wall::Output,
        name: "output",
        stops: "Output beyond the limit is counted and dropped, and none of it is written to the \
                disk of this machine.",
        open: "The head and the tail of the output, up to the limit.",
        plain: "fill the disk of this machine with its output, in the log that the engine keeps",
        flags: &[flag("--log-driver", "the engine keeps no copy of the output")],
        mechanism: Some("keeps the head and the tail of each stream"),
        probe: Probe { runs: &[Run::Output, Run::Peers], judge: judge::output },
    },
    Row {
        wall: Wall::Environment,
        name: "environment",
        stops: "No variable of this machine reaches the program, no proxy with its password \
                either.",
        open: "The variables of the image and those that the policy gives.",
        plain: "read the proxies of the client configuration, passwords included",
        flags: &[
            flag("--env HOME=", "a home where it may write"),
            flag("--env", "a variable of the policy or the language, or a proxy taken out"),
            flag("--http-proxy=", "no proxy variables of the client"),
        ],
        mechanism: Some("passes on no variable of its own environment"),
        probe: Probe { runs: &[Run::Facts], judge: judge::environment },
    },
    Row {
        wall: Wall::Lifetime,
        name: "lifetime",
        stops: "Each program gets a fresh container, and nothing of it is left at the end: no \
                file, no process, no state for the next one.",
        open: "What it printed, and the one line of an audit log.",
        plain: "leave its stopped container, with all it wrote, on the disk",
        flags: &[
            flag("--rm", "the container goes with its program"),
            flag("--label", "whose it is and until when, so that das can sweep"),
        ],
        mechanism: Some("removes what its client left, and a watchdog does so if das is killed"),
        probe: Probe { runs: &[Run::Leave, Run::Look], judge: judge::lifetime },
    },
    Row {
        wall: Wall::Isolation,
        name: "isolation",
        stops: "The program sees only its own processes, and finds no other container that runs \
                beside it.",
        open: "Other containers on the bridge, where a policy opens the network.",
        plain: "see only its own processes too, but reach other containers on the bridge",
        flags: &[
            flag("--no-healthcheck", "no command of the image runs beside the program"),
            flag("--entrypoint", "no program of the image runs in its place"),
        ],
        mechanism: Some("never shares a namespace with this machine or another container"),
        probe: Probe { runs: &[Run::Facts, Run::Peers], judge: judge::isolation },
    },
];
