//! For every wall a Docker CLI that leaves out, or weakens, exactly that wall: `das verify` must
//! say that it is broken, and that every other one holds. A probe that cannot fail proves nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::Change::{Add, Drop, DropBare};
use crate::support::{Change, Finished, Language, Place as _, Real};

/// Those who see what a shell without other programs cannot.
const ALL: [Language; 3] = Language::ALL;

#[track_caller]
fn states(finished: &Finished) -> BTreeMap<String, String> {
    let report: Value = serde_json::from_slice(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {finished:?}"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let walls = report["walls"].as_array().expect("a list");
    walls.iter().map(|it| (text(&it["wall"]), text(&it["state"]))).collect()
}

/// Verifies with this engine, and compares the whole list of walls that do not hold.
#[track_caller]
fn broken_are(real: &Real, language: Language, engine: &Path, walls: &[&str]) {
    let engine = engine.to_str().expect("a plain path");
    let verify = ["verify", "--json", "-l", language.name(), "--engine", engine];
    let finished = real.das().args(verify).output();
    let states = states(&finished);
    let faulty: BTreeMap<&str, &str> = states
        .iter()
        .filter(|(_, state)| *state != "HELD")
        .map(|(wall, state)| (wall.as_str(), state.as_str()))
        .collect();
    let expected: BTreeMap<&str, &str> = walls.iter().map(|wall| (*wall, "BROKEN")).collect();
    assert_eq!(faulty, expected, "{}: {}", language.name(), finished.stdout_text());
    assert_eq!(states.len(), 18, "{states:?}");
    assert_eq!(finished.code(), Some(i32::from(!walls.is_empty())));
}

#[track_caller]
fn without(changes: &[Change], wall: &str, languages: &[Language]) {
    for &language in languages {
        let real = Real::new();
        broken_are(&real, language, &real.docker_with(changes), &[wall]);
    }
}

#[test]
#[ignore = "needs Docker: every probe in every language, and no wall is missed"]
fn every_wall_holds_in_every_language() {
    for language in ALL {
        let real = Real::new();
        broken_are(&real, language, Path::new("/usr/bin/docker"), &[]);
    }
}

#[test]
#[ignore = "needs Docker: a network where there must be none"]
fn a_network_is_noticed() {
    without(&[Drop("--network", "none"), Add(&["--network", "bridge"])], "network", &ALL);
}

#[test]
#[ignore = "needs Docker: a writable image"]
fn a_writable_image_is_noticed() {
    without(&[DropBare("--read-only")], "filesystem", &ALL);
}

#[test]
#[ignore = "needs Docker: a /tmp that executes, and one that is too large"]
fn a_scratch_that_executes_or_is_too_large_is_noticed() {
    const EXEC: &str = "/tmp:rw,exec,nosuid,nodev,mode=1777,size=32m";
    const LARGE: &str = "/tmp:rw,noexec,nosuid,nodev,mode=1777,size=48m";
    without(&[Drop("--tmpfs", "/tmp"), Add(&["--tmpfs", EXEC])], "scratch", &ALL);
    without(&[Drop("--tmpfs", "/tmp"), Add(&["--tmpfs", LARGE])], "scratch", &ALL);
    without(&[Drop("--tmpfs", "/tmp")], "scratch", &[Language::Python]);
}

/// What a program would look for first, were it there.
const SOCKET: &str = "/usr/share:/run/docker.sock:ro";

#[test]
#[ignore = "needs Docker: a directory of the host, and its unmasked /proc"]
fn the_host_is_noticed() {
    without(&[Add(&["--volume", "/usr/share:/host:ro"])], "host", &ALL);
    without(&[Add(&["--device", "/dev/zero:/dev/vda"])], "host", &[Language::Shell]);
    without(&[Add(&["--volume", SOCKET])], "host", &[Language::Python]);
    without(&[Add(&["--security-opt", "systempaths=unconfined"])], "host", &ALL);
}

#[test]
#[ignore = "needs Docker: a program that is root"]
fn root_is_noticed() {
    without(&[Drop("--user", ""), Add(&["--user", "0:0"])], "user", &ALL);
    without(&[Drop("--user", ""), Add(&["--user", "65534:0"])], "user", &[Language::Shell]);
}

#[test]
#[ignore = "needs Docker: capabilities that are only to be had by a later root"]
fn capabilities_are_noticed() {
    without(&[Drop("--cap-drop", "ALL")], "capabilities", &ALL);
}

#[test]
#[ignore = "needs Docker: setuid programs that gain privileges"]
fn new_privileges_are_noticed() {
    without(&[Drop("--security-opt", "no-new-privileges")], "new-privileges", &ALL);
}

#[test]
#[ignore = "needs Docker: a program without a filter of system calls"]
fn a_missing_filter_is_noticed() {
    without(&[Add(&["--security-opt", "seccomp=unconfined"])], "syscalls", &ALL);
}

#[test]
#[ignore = "needs Docker: profiles of the policy's owner"]
fn what_the_profile_of_the_owner_allows_is_open_and_what_it_does_not_is_noticed() {
    // Everything is allowed but what is named.
    let profile = |refused: &[&str]| {
        let rule = json!({"names": refused, "action": "SCMP_ACT_ERRNO"});
        json!({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]}).to_string()
    };
    let others = ["mount", "keyctl", "bpf", "userfaultfd", "perf_event_open"];
    for language in ALL {
        let real = Real::new();
        let own = real.write("own.json", &profile(&others));
        let state = |engine: &Path| {
            let engine = engine.to_str().expect("a plain path");
            let verify = ["verify", "--json", "-l", language.name(), "--only", "syscalls"];
            let own = ["--seccomp", &own, "--engine", engine];
            states(&real.das().args(verify).args(own).output()).remove("syscalls")
        };
        assert_eq!(state(Path::new("/usr/bin/docker")).as_deref(), Some("OPEN"));
        // Behind das's back there is no filter at all.
        let none =
            [Drop("--security-opt", "seccomp="), Add(&["--security-opt", "seccomp=unconfined"])];
        let none = real.docker_with(&none);
        assert_eq!(state(&none).as_deref(), Some("BROKEN"), "{}", language.name());
    }
}

#[test]
#[ignore = "needs Docker: util-linux in an image that has no program to make a system call"]
fn a_filter_that_lets_calls_through_is_noticed_by_every_language_that_can_make_one() {
    for language in ALL {
        let real = Real::new();
        let tools = real.home().join("tools");
        fs::create_dir(&tools).expect("a fresh directory");
        fs::copy("/usr/bin/unshare", tools.join("unshare")).expect("util-linux");
        let tools = tools.to_str().expect("a plain path");
        let verify = |engine: &Path| {
            let engine = engine.to_str().expect("a plain path");
            let verify = ["verify", "--json", "-l", language.name(), "--only", "syscalls"];
            let with = ["--work-dir", tools, "--env", "PATH=/work:/usr/local/bin:/usr/bin:/bin"];
            let finished = real.das().args(verify).args(with).args(["--engine", engine]).output();
            let report: Value = serde_json::from_slice(&finished.stdout).expect("an object");
            report["walls"][0].clone()
        };
        let filtered = verify(Path::new("/usr/bin/docker"));
        let evidence = filtered["evidence"].as_str().expect("a text");
        assert!(filtered["state"] == "HELD" && evidence.contains("refused: "), "{filtered}");
        // There is a filter, and it refuses nothing of this.
        let rule = json!({"names": ["reboot"], "action": "SCMP_ACT_ERRNO"});
        let loose = json!({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]});
        let loose = real.write("loose.json", &loose.to_string());
        let docker = wrapper(
            &real,
            &format!(
                "[ \"$1\" != run ] || {{ shift; exec docker run --security-opt seccomp={loose} \"$@\"; }}"
            ),
        );
        let let_through = verify(&docker);
        assert_eq!(let_through["state"], "BROKEN", "{}: {let_through}", language.name());
    }
}

#[test]
#[ignore = "needs Docker: memory without a limit, and swap on top of it"]
fn missing_limits_of_memory_are_noticed() {
    without(&[Drop("--memory", ""), Drop("--memory-swap", "")], "memory", &ALL);
    without(&[Drop("--memory-swap", "")], "memory", &[Language::Shell]);
}

#[test]
#[ignore = "needs Docker: all processors for one program"]
fn a_missing_quota_is_noticed() {
    without(&[Drop("--cpus", "")], "cpu", &ALL);
    without(&[Drop("--cpus", ""), Add(&["--cpus", "1"])], "cpu", &[Language::Python]);
}

#[test]
#[ignore = "needs Docker: a fork bomb, bounded by the probe alone"]
fn a_missing_limit_of_processes_is_noticed() {
    without(&[Drop("--pids-limit", "")], "pids", &ALL);
}

#[test]
#[ignore = "needs Docker: files without a limit"]
fn a_missing_limit_of_files_is_noticed() {
    without(&[Drop("--ulimit", "nofile")], "descriptors", &ALL);
}

#[test]
#[ignore = "needs Docker: core dumps"]
fn core_dumps_are_noticed() {
    without(&[Drop("--ulimit", "core"), Add(&["--ulimit", "core=-1:-1"])], "core-dumps", &ALL);
}

#[test]
#[ignore = "needs Docker: a kill that never comes"]
fn a_deadline_that_does_not_hold_is_noticed() {
    for language in ALL {
        let real = Real::new();
        // das gives such a command up, and has to end the container in another way: too late.
        let docker = wrapper(&real, "[ \"$1\" != kill ] || exec sleep 60");
        broken_are(&real, language, &docker, &["time"]);
    }
}

#[test]
#[ignore = "needs Docker: a log of the output on the host"]
fn a_log_on_the_host_is_noticed() {
    without(&[Drop("--log-driver", "none")], "output", &ALL);
}

#[test]
#[ignore = "needs Docker: a variable that nobody granted"]
fn a_strange_variable_is_noticed() {
    without(&[Add(&["--env", "DAS_TEST_TOKEN=secret"])], "environment", &ALL);
}

#[test]
#[ignore = "needs Docker: containers that are left behind"]
fn a_container_that_is_left_is_noticed_and_removed() {
    for language in ALL {
        let real = Real::new();
        let docker = real.docker_with(&[DropBare("--rm")]);
        broken_are(&real, language, &docker, &["lifetime"]);
    }
}

#[test]
#[ignore = "needs Docker: the processes of the host"]
fn the_processes_of_the_host_are_noticed() {
    without(&[Add(&["--pid", "host"])], "isolation", &ALL);
}

#[test]
#[ignore = "needs Docker: two containers that share memory, and files that outlive a run"]
fn a_shared_memory_carries_files_from_one_container_to_the_next() {
    for language in ALL {
        let real = Real::new();
        let name = format!("das-test-shm-{}", std::process::id());
        let image = Language::Shell.image();
        let keeper =
            ["run", "--rm", "-d", "--pull", "never", "--ipc", "shareable", "--name", &name];
        let started = real.docker().args(keeper).args([&image, "sleep", "600"]).output();
        assert_eq!(started.code(), Some(0), "{}", started.stderr_text());
        let script = format!(
            "[ \"$1\" != run ] || {{ shift; exec docker run --ipc container:{name} \"$@\"; }}"
        );
        let docker = wrapper(&real, &script);
        broken_are(&real, language, &docker, &["isolation", "lifetime"]);
        real.docker().args(["rm", "--force", &name]).output();
    }
}

/// A Docker CLI that first does this.
fn wrapper(real: &Real, script: &str) -> std::path::PathBuf {
    let path = real.home().join("docker");
    fs::write(&path, format!("#!/bin/sh\n{script}\nexec docker \"$@\"\n")).expect("a fresh file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    path
}
