//! What das takes from its environment, and what of it reaches the engine's client.

use std::fs;

use serde_json::json;

use crate::support::{Das, Place, Scenario, StandIn};

const PROXIES: [&str; 5] = ["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY"];
const SECRET: &str = "http://user:secret@proxy";

fn run(stand_in: &StandIn) -> Das<'_> {
    Das::new(stand_in).args(["run", "-q", "-c", "x"])
}

/// A client's configuration in a directory of the home.
fn configure(stand_in: &StandIn, dir: &str, text: &str) {
    let dir = stand_in.home().join(dir);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.json"), text).unwrap();
}

fn with_proxies() -> String {
    json!({"proxies": {"default": {"httpProxy": SECRET, "httpsProxy": SECRET}}}).to_string()
}

/// The last run unsets every proxy variable, in both cases of letters.
#[track_caller]
fn unsets_proxies(stand_in: &StandIn) {
    let run = stand_in.runs().pop().expect("a run");
    for name in PROXIES {
        for name in [name.to_owned(), name.to_ascii_lowercase()] {
            assert!(run.values("--env").contains(&name.as_str()), "{name}: {run}");
            assert!(!run.env.contains_key(&name), "{name}: {:?}", run.env);
        }
    }
    assert!(!run.argv.concat().contains("secret"));
}

#[test]
fn the_proxies_of_the_clients_configuration_are_unset() {
    let stand_in = StandIn::playing(Scenario::program());
    configure(&stand_in, ".docker", &with_proxies());
    run(&stand_in).env("HTTP_PROXY", SECRET).env("no_proxy", SECRET).status(0);
    unsets_proxies(&stand_in);
}

#[test]
fn the_clients_configuration_may_be_elsewhere() {
    let stand_in = StandIn::playing(Scenario::program());
    configure(&stand_in, "elsewhere", &with_proxies());
    let elsewhere = stand_in.home().join("elsewhere");
    run(&stand_in).env("DOCKER_CONFIG", elsewhere.to_str().unwrap()).status(0);
    unsets_proxies(&stand_in);
}

#[test]
fn a_configuration_that_cannot_be_read_may_have_proxies() {
    let stand_in = StandIn::playing(Scenario::program());
    configure(&stand_in, ".docker", "{\"proxies\": ");
    run(&stand_in).status(0);
    unsets_proxies(&stand_in);
}

#[test]
fn a_proxy_that_the_policy_grants_stays() {
    let stand_in = StandIn::playing(Scenario::program());
    configure(&stand_in, ".docker", &with_proxies());
    run(&stand_in).args(["--env", "HTTP_PROXY=http://granted"]).status(0);
    let run = stand_in.runs().pop().unwrap();
    let variables = run.values("--env");
    assert!(variables.contains(&"HTTP_PROXY=http://granted") && variables.contains(&"http_proxy"));
    assert!(!variables.contains(&"HTTP_PROXY"));
}

#[test]
fn without_proxies_nothing_is_unset() {
    for config in ["{}", r#"{"proxies": {}}"#, r#"{"auths": {}, "proxies": null}"#] {
        let stand_in = StandIn::playing(Scenario::program());
        configure(&stand_in, ".docker", config);
        run(&stand_in).status(0);
        let run = stand_in.runs().pop().unwrap();
        assert!(run.values("--env").iter().all(|variable| variable.contains('=')), "{run}");
    }
}

#[test]
fn nothing_of_das_environment_is_named_on_the_command_line() {
    let stand_in = StandIn::playing(Scenario::program());
    run(&stand_in).env("AWS_SECRET_ACCESS_KEY", "hunter2").env("LANG", "hunter2").status(0);
    assert!(!stand_in.runs()[0].argv.concat().contains("hunter2"));
    assert!(!stand_in.runs()[0].argv.concat().contains("AWS"));
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let stand_in = StandIn::playing(Scenario::program());
    let empty = ["DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"];
    empty.iter().fold(run(&stand_in), |das, name| das.env(name, "")).status(0);
    let run = stand_in.runs().pop().unwrap();
    assert!(run.env.values().all(|value| !value.is_empty()), "{:?}", run.env);
}

#[test]
fn an_endpoint_that_somebody_names_reaches_every_command() {
    let stand_in = StandIn::playing(Scenario::program().exits(3));
    run(&stand_in).env("DOCKER_HOST", "ssh://build").status(3);
    let calls = stand_in.calls();
    assert!(calls.len() >= 2);
    for call in calls {
        assert_eq!(call.env.get("DOCKER_HOST").map(String::as_str), Some("ssh://build"), "{call}");
    }
}

#[test]
fn the_bare_environment_of_an_mcp_host_is_enough() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n"));
    let bare = [("LOGNAME", "me"), ("SHELL", "/bin/sh"), ("TERM", "dumb"), ("USER", "me")];
    let das = bare.iter().fold(run(&stand_in), |das, (name, value)| das.env(name, *value));
    das.stdout("45\n").status(0);
}

#[test]
fn a_home_is_not_needed() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n"));
    run(&stand_in).env("HOME", "").stdout("45\n").status(0);
}

#[test]
fn an_engine_outside_path_is_found_in_its_usual_place() {
    let stand_in = StandIn::new();
    let place = stand_in.home().join(".rd/bin");
    fs::create_dir_all(&place).unwrap();
    std::os::unix::fs::symlink(stand_in.path(), place.join("nerdctl")).unwrap();
    let explain = Das::new(&stand_in).args(["explain", "--json", "--engine", "nerdctl"]).output();
    let words: Vec<String> = serde_json::from_slice(&explain.stdout).expect("an array");
    // The machine may have one of its own, which comes first.
    assert!(words[0].starts_with('/') && words[0].ends_with("/nerdctl"), "{}", words[0]);
}

#[test]
fn an_engine_outside_path_finds_its_helpers_beside_it() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n"));
    let docker = stand_in.path();
    let outside = run(&stand_in).env("PATH", "/usr/bin:/bin");
    outside.args(["--engine", docker.to_str().unwrap()]).stdout("45\n").status(0);
    let explain = Das::new(&stand_in).env("PATH", "/usr/bin:/bin");
    let explain = explain.args(["explain", "--engine", docker.to_str().unwrap()]).output();
    let beside = stand_in.dir().to_str().unwrap();
    let text = explain.stdout_text();
    assert!(text.starts_with("PATH=/usr/bin:/bin:") && text.contains(beside), "{text}");
}

#[test]
fn another_engine_is_called_by_its_own_name() {
    let stand_in = StandIn::new();
    stand_in.also_called("podman");
    let explain = Das::new(&stand_in).args(["explain", "--json", "--engine", "podman"]).output();
    let words: Vec<String> = serde_json::from_slice(&explain.stdout).expect("an array");
    assert_eq!(words[0], "podman");
    for flag in ["--http-proxy=false", "--read-only-tmpfs=false"] {
        assert!(words.contains(&flag.to_owned()), "{words:?}");
    }
}

#[test]
fn an_engine_whose_own_filter_is_loose_gets_the_strict_one_unless_the_policy_names_another() {
    let stand_in = StandIn::new();
    stand_in.also_called("podman");
    let own = stand_in.home().join("own.json");
    fs::write(&own, r#"{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": []}"#).expect("a file");
    let own = own.to_str().expect("a plain path");
    let filter = |args: &[&str]| {
        let explain = Das::new(&stand_in).args(["explain", "--json"]).args(args.iter().copied());
        let words: Vec<String> =
            serde_json::from_slice(&explain.output().stdout).expect("an array");
        words.into_iter().find_map(|word| word.strip_prefix("seccomp=").map(str::to_owned))
    };
    let strict = filter(&["--engine", "podman"]).expect("a filter");
    let text = fs::read_to_string(&strict).expect("a file");
    assert_eq!(text, docker_agent_sandbox::seccomp::profile());
    assert_eq!(filter(&["--engine", "podman", "--seccomp", own]).as_deref(), Some(own));
    assert_eq!(filter(&["--engine", "docker"]), None);
}
