//! Each check in each of its states, on the stand-in.

use std::fs;

use docker_agent_sandbox::doctor::CHECKS;
use serde_json::{Value, json};

use super::{INSIDE, Told, doctor, told};
use crate::support::{
    Amount, Answer, Daemon, Das, Listing, Place, Scenario, StandIn, Stop, Stream,
};

fn healthy() -> Scenario {
    Scenario::program().prints(INSIDE)
}

#[track_caller]
fn examined(scenario: Scenario) -> Told {
    doctor(&StandIn::playing(scenario), &[])
}

fn hostname() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").expect("a name").trim().to_owned()
}

#[test]
fn a_healthy_machine_is_ok_in_every_check_but_its_old_engine() {
    let modern = json!({"Server": {"Version": "28.2.2"}});
    let info = json!({"SecurityOptions": ["name=seccomp,profile=default", "name=rootless"],
        "CgroupVersion": "2", "CgroupDriver": "systemd", "DockerRootDir": "/", "Name": hostname()});
    let told = examined(healthy().version(modern).info(info));
    assert!(told.usable());
    for check in CHECKS.iter().filter(|check| !["audit-log", "images", "disk"].contains(check)) {
        assert!(told.one(check).starts_with("ok: "), "{check} {}", told.one(check));
    }
    assert!(told.one("disk").ends_with(" free at /"), "{}", told.one("disk"));
    assert_eq!(told.all("images").len(), 3);
    assert_eq!(told.all("audit-log"), [""; 0]);
}

#[test]
fn every_check_stands_in_the_table_and_in_its_order() {
    let told = examined(healthy());
    let findings = told.report["findings"].as_array().expect("findings");
    let place = |it: &Value| CHECKS.iter().position(|check| it["check"] == *check);
    let places: Vec<_> = findings.iter().map(place).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
}

#[test]
fn without_a_program_there_is_nothing_else_to_ask() {
    let stand_in = StandIn::new();
    let told = doctor(&stand_in, &["--engine", "/nowhere/docker"]);
    assert!(!told.usable());
    let expected = "broken: the engine `/nowhere/docker` is not an executable file";
    assert_eq!(told.one("client"), expected);
    assert_eq!(told.report["findings"].as_array().expect("findings").len(), 2);
}

#[test]
fn the_program_is_found_where_path_has_it() {
    let stand_in = StandIn::playing(healthy());
    let docker = stand_in.path();
    assert_eq!(
        doctor(&stand_in, &[]).one("client"),
        format!("ok: docker, {} in PATH", docker.display())
    );
}

#[test]
fn an_engine_that_is_down_forbidden_or_misnamed_is_broken_each_with_its_fix() {
    for (daemon, found, fix) in [
        (Daemon::Down, "the container engine cannot be reached", "start Docker"),
        (Daemon::Denied, "this user may not talk to the engine", "add the user"),
        (Daemon::BadContext, "the engine's endpoint is not usable", "check DOCKER_HOST"),
    ] {
        let scenario = Scenario::nothing().daemon(daemon);
        let told = examined(scenario);
        assert!(!told.usable());
        assert!(told.one("daemon").starts_with(&format!("broken: {found}")), "{}", told.report);
        let findings = told.report["findings"].as_array().expect("findings");
        let daemon = findings.iter().find(|it| it["check"] == "daemon").expect("a finding");
        assert!(daemon["fix"].as_str().is_some_and(|it| it.starts_with(fix)), "{daemon}");
        for check in ["cgroups", "disk", "leftovers", "run", "limit-memory", "seccomp"] {
            assert!(told.one(check).starts_with("unknown: "), "{check}");
        }
        // What needs no engine is still told.
        assert!(told.one("watchdog").starts_with("ok: "));
    }
}

#[test]
fn an_engine_that_hangs_holds_up_no_other_check() {
    let told = examined(Scenario::nothing().daemon(Daemon::Hangs));
    assert!(!told.usable());
    assert!(told.one("daemon").contains("did not answer within 5 s"), "{}", told.one("daemon"));
    assert!(told.one("run").starts_with("unknown: the engine cannot be asked"));
    assert!(told.one("client").starts_with("ok: "));
    assert!(told.one("endpoint").starts_with("ok: "));
}

#[test]
fn versions_with_known_faults_are_weak() {
    let version = |client: &str, server: &str| {
        let patch = json!({"Client": {"Version": client}, "Server": {"Version": server}});
        let told = examined(healthy().version(patch));
        assert!(told.usable());
        (told.one("client-version"), told.one("engine-version"))
    };
    let (client, server) = version("28.0.4", "20.10.24+dfsg1");
    assert!(client.starts_with("weak: 28.0.4: 28.0.x can lose the last output"), "{client}");
    assert!(server.starts_with("weak: 20.10.24+dfsg1: its makers no longer mend it"), "{server}");
    let (client, server) = version("29.1.0", "29.1.0");
    assert_eq!((client.as_str(), server.as_str()), ("ok: 29.1.0", "ok: 29.1.0"));
}

#[test]
fn an_answer_that_is_no_json_leaves_its_checks_unknown_and_the_rest_as_they_are() {
    let garbage = Answer { stdout: "{\u{fffd}".to_owned(), stderr: String::new(), exit: 0 };
    let told = examined(healthy().info_answers(garbage));
    assert!(told.one("cgroups").starts_with("unknown: the engine does not tell: no JSON"));
    assert!(told.one("daemon").starts_with("ok: "));
    assert!(told.one("limit-memory").starts_with("ok: "));
}

#[test]
fn what_the_engine_says_of_itself_is_judged() {
    for (patch, check, found) in [
        (json!({"SecurityOptions": []}), "rootless", "note: the engine runs as root"),
        (json!({"SecurityOptions": null}), "rootless", "unknown: the engine does not tell"),
        (json!({"CgroupVersion": "1"}), "cgroups", "note: version 1, driver cgroupfs"),
        (
            json!({"CgroupVersion": "2", "CgroupDriver": "none"}),
            "cgroups",
            "weak: version 2, driver none: no limit is enforced",
        ),
        (json!({"Name": "elsewhere"}), "disk", "unknown: /var/lib/docker is on the engine's own"),
        (json!({"DockerRootDir": null}), "disk", "unknown: the engine does not tell"),
        (
            json!({"Warnings": ["WARNING: No swap limit support"]}),
            "engine-warnings",
            "weak: No swap limit support",
        ),
        (
            json!({"Runtimes": {"runsc": {"path": "x"}}}),
            "runtimes",
            "ok: io.containerd.runc.v2, io.containerd.runtime.v1.linux, runc, runsc; default runc",
        ),
    ] {
        let told = examined(healthy().info(patch));
        assert!(told.usable());
        assert!(told.one(check).starts_with(found), "{found}: {}", told.one(check));
    }
}

#[test]
fn a_runtime_that_the_policy_demands_and_the_engine_lacks_makes_it_unusable() {
    let stand_in = StandIn::playing(healthy());
    let told = doctor(&stand_in, &["--runtime", "runsc"]);
    assert!(!told.usable());
    assert!(told.one("runtimes").starts_with("broken: `runsc` is not there"));
}

#[test]
fn an_endpoint_that_anybody_can_reach_is_weak() {
    let stand_in = StandIn::playing(healthy());
    let das = Das::new(&stand_in).args(["doctor", "--json"]);
    let told = told(&das.env("DOCKER_HOST", "tcp://build.example:2375"));
    assert_eq!(told.one("endpoint"), "weak: tcp://build.example:2375 (DOCKER_HOST)");
}

#[test]
fn proxies_in_the_clients_configuration_are_told() {
    let stand_in = StandIn::playing(healthy());
    let dir = stand_in.home().join(".docker");
    fs::create_dir(&dir).expect("a fresh directory");
    let config = json!({"proxies": {"default": {"httpProxy": "http://user:secret@proxy"}}});
    fs::write(dir.join("config.json"), config.to_string()).expect("a writable directory");
    let told = doctor(&stand_in, &[]);
    assert!(told.one("proxies").contains("das keeps them out"), "{}", told.one("proxies"));
    assert!(!told.report.to_string().contains("secret"));
}

#[test]
fn missing_images_are_noted_or_weak_and_leave_the_run_untried() {
    let stand_in = StandIn::playing(Scenario::nothing().without_images());
    let told = doctor(&stand_in, &[]);
    assert!(told.usable());
    assert_eq!(told.all("images")[0], "note: python: python:3.12-slim is not here");
    assert_eq!(told.one("run"), "unknown: no image with a shell is here to try");
    let told = doctor(&stand_in, &["--pull", "never"]);
    assert_eq!(
        told.all("images")[0],
        "weak: python: python:3.12-slim is not here, and is never pulled"
    );
}

#[test]
fn the_probe_takes_the_first_image_that_has_a_shell_and_pulls_nothing() {
    let scenario = Scenario::program().interpreter_is_missing().when_arg("python:3.12-slim");
    let stand_in = StandIn::playing(scenario.or(healthy()));
    let told = doctor(&stand_in, &["--pull", "always"]);
    assert!(told.one("run").starts_with("ok: a container in node:22-slim took "));
    assert_eq!(stand_in.runs().len(), 2);
    assert!(stand_in.calls_of("pull").is_empty());
    assert!(stand_in.containers_left().is_empty());
}

#[test]
fn limits_that_no_kernel_enforces_are_weak() {
    let unlimited = INSIDE
        .replace("268435456", "9223372036854771712")
        .replace("v1.pids 64", "v1.pids max")
        .replace("v1.quota 50000", "v1.quota -1")
        .replace("256  256", "1024  1048576")
        .replace("Seccomp:\t2", "Seccomp:\t0")
        .replace("swaps Filename\n", "swaps Filename\nswaps /dev/sda2\n");
    let told = examined(Scenario::program().prints(unlimited));
    assert!(told.usable());
    for check in
        ["limit-memory", "limit-swap", "limit-pids", "limit-cpus", "limit-nofile", "seccomp"]
    {
        assert!(told.one(check).starts_with("weak: "), "{check} {}", told.one(check));
    }
}

#[test]
fn a_probe_that_says_nothing_or_fails_leaves_the_limits_unknown() {
    for (scenario, state) in [
        (Scenario::program().prints("v1.pids 64\n"), "ok: "),
        (Scenario::program().exits(3), "weak: "),
        (Scenario::program().runs_out_of_memory(), "weak: the policy's memory is too little"),
        (Scenario::program().has_a_broken_runtime("no such file"), "broken: "),
    ] {
        let told = examined(scenario);
        assert!(told.one("run").starts_with(state), "{state}: {}", told.one("run"));
        assert_eq!(told.one("limit-memory"), "unknown: no container told");
    }
}

#[test]
fn a_probe_that_floods_is_cut_and_judged() {
    let flood = Scenario::program().floods(&[Stream::Stdout], Amount::Only(10 << 20));
    assert_eq!(examined(flood).one("limit-memory"), "unknown: no container told");
}

#[test]
fn warnings_at_the_run_are_weak() {
    let warning = "WARNING: Your kernel does not support swap limit capabilities";
    let told = examined(healthy().with_warning(warning));
    let run = told.one("run");
    assert!(run.starts_with("weak: "), "{run}");
    assert!(run.ends_with("Your kernel does not support swap limit capabilities"), "{run}");
}

#[test]
fn containers_that_outlived_their_time_are_told_and_others_are_not() {
    let rows = "das-0123456789abcdef 5\ndas-fedcba9876543210 99999999999\n\
                somebody-elses 5\ndas-0000000000000000 \nnonsense\n";
    let listed = Answer { stdout: rows.to_owned(), stderr: String::new(), exit: 0 };
    let told = examined(healthy().ps(Listing::Answers(listed)));
    let expected = "weak: 1 container of das outlived their time: das-0123456789abcdef";
    assert_eq!(told.one("leftovers"), expected.replace("their", "its"));
    let told = examined(healthy().ps(Listing::Garbage));
    assert_eq!(told.one("leftovers"), "ok: no container of das outlived its time");
    let told = examined(healthy().ps(Listing::Answers(Answer::failure(1, "no\n"))));
    assert_eq!(told.one("leftovers"), "unknown: no");
}

#[test]
fn a_log_that_cannot_be_written_makes_it_unusable() {
    let stand_in = StandIn::playing(healthy());
    let home = stand_in.home().to_str().expect("a plain path");
    let told = doctor(&stand_in, &["--audit-log", home]);
    assert!(!told.usable());
    assert!(told.one("audit-log").starts_with("broken: cannot open"), "{}", told.report);
    let log = format!("{home}/audit.jsonl");
    let told = doctor(&stand_in, &["--audit-log", &log]);
    assert_eq!(told.one("audit-log"), format!("ok: {log} can be written"));
    assert_eq!(fs::read(&log).expect("the log"), b"");
}

#[test]
fn without_a_shell_for_the_watchdog_nothing_can_run() {
    let stand_in = StandIn::playing(healthy());
    let das = Das::new(&stand_in).args(["doctor", "--json"]);
    let told = told(&das.env("PATH", stand_in.dir().to_str().expect("a plain path")));
    assert!(!told.usable());
    assert!(told.one("watchdog").starts_with("broken: command not found: `sh`"), "{}", told.report);
}

#[test]
fn a_policy_that_opens_a_wall_is_noted() {
    let stand_in = StandIn::playing(healthy());
    let told = doctor(&stand_in, &["--allow-network"]);
    assert!(told.one("policy").starts_with("note: network access is on"));
}

#[test]
fn the_text_fits_80_columns_and_has_no_colour_on_a_pipe() {
    let stand_in = StandIn::playing(healthy().kill(Stop::Works));
    let finished = Das::new(&stand_in).args(["doctor"]).output();
    let text = finished.stdout_text();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
    assert!(text.ends_with("\nusable: 1 weakness, 1 unknown\n"), "{text}");
    assert_eq!(finished.code(), Some(0));
}
