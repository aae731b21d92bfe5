//! On the machine's own engine.

use super::told;
use crate::support::{Change, Real};

#[test]
#[ignore = "needs Docker: every limit is read back from inside a container"]
fn the_limits_of_a_real_engine_are_read_inside() {
    let real = Real::new();
    let told = told(&real.das().args(["doctor", "--json", "--memory", "300", "--pids", "50"]));
    assert!(told.usable(), "{}", told.report);
    assert_eq!(told.one("limit-memory"), "ok: 300 MiB, read inside");
    assert_eq!(told.one("limit-pids"), "ok: 50 processes, read inside");
    assert_eq!(told.one("limit-cpus"), "ok: 0.50, read inside");
    assert_eq!(told.one("limit-nofile"), "ok: 256 descriptors, read inside");
    assert!(told.one("limit-swap").starts_with("ok: "), "{}", told.one("limit-swap"));
}

#[test]
#[ignore = "needs Docker: limits that are left out on the way are missed"]
fn limits_that_never_reach_the_engine_are_missed() {
    let changes = [
        Change::Drop("--memory", ""),
        Change::Drop("--memory-swap", ""),
        Change::Drop("--pids-limit", ""),
        Change::Drop("--cpus", ""),
        Change::Drop("--ulimit", "nofile"),
        Change::Add(&["--security-opt", "seccomp=unconfined", "--ulimit", "nofile=1024:1024"]),
    ];
    let real = Real::new();
    let docker = real.docker_with(&changes);
    let engine = docker.to_str().expect("a plain path");
    let told = told(&real.das().args(["doctor", "--json", "--engine", engine]));
    for check in ["limit-memory", "limit-pids", "limit-cpus", "limit-nofile", "seccomp"] {
        assert!(told.one(check).starts_with("weak: "), "{check} {}", told.one(check));
    }
}
