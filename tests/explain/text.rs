//! The text that people read, and paste.

use std::path::Path;

use super::explained;
use crate::support::{Cli, Das, Place, Scenario, StandIn};

/// Every flag on a line of its own, in the order in which the walls are taught.
fn documented(env: &str, end: &str) -> String {
    format!(
        r#"docker run \
  --rm \
  -i \
  --name das-[ID] \
  --pull never \
  --network none \
  --read-only \
  --tmpfs /tmp:rw,noexec,nosuid,nodev,mode=1777,size=32m \
  --memory 256m \
  --memory-swap 256m \
  --cpus 0.5 \
  --pids-limit 64 \
  --ulimit nofile=256:256 \
  --ulimit core=0:0 \
  --cap-drop ALL \
  --security-opt no-new-privileges \
  --user 65534:65534 \
  --workdir /tmp \
  --env HOME=/tmp \
{env}  --log-driver none \
  --no-healthcheck \
  --entrypoint "" \
  --label docker-agent-sandbox=1 \
  --label docker-agent-sandbox.owner=nobody \
  --label docker-agent-sandbox.expires=[EXPIRY] \
  {end}
"#
    )
}

const PYTHON_ENV: &str = "  --env PYTHONDONTWRITEBYTECODE=1 \\\n  --env PYTHONUNBUFFERED=1 \\\n";

#[test]
fn the_default_command_has_every_wall_in_its_documented_place() {
    let stand_in = StandIn::new();
    Das::new(&stand_in)
        .arg("explain")
        .stdout(documented(PYTHON_ENV, "python:3.12-slim python -I -u -"))
        .status(0);
}

#[test]
fn each_language_ends_in_its_image_and_its_interpreter() {
    let stand_in = StandIn::new();
    let explain = |language| Das::new(&stand_in).args(["explain", "-l", language]);
    explain("js").stdout(documented("", "node:22-slim node -")).status(0);
    let shell = r#"alpine:3.20 sh -c 'eval "$(cat)"'"#;
    explain("shell").stdout(documented("", shell)).status(0);
}

#[test]
fn explaining_asks_the_engine_nothing() {
    let stand_in = StandIn::new();
    explained(&stand_in, &["--runtime", "runsc", "--image", "nowhere.example/x:1"]);
    assert!(stand_in.calls().is_empty());
}

#[test]
fn the_printed_command_runs_when_it_is_pasted_into_a_shell() {
    let stand_in = StandIn::playing(Scenario::program().prints_its_stdin());
    let explained = Das::new(&stand_in).args(["explain", "-l", "shell"]).output().stdout_text();
    Cli::program(&stand_in, Path::new("/bin/sh"))
        .args(["-c", &explained])
        .stdin("echo hi")
        .stdout("echo hi")
        .status(0);
    let run = &stand_in.runs()[0];
    assert_eq!(run.argv.last().map(String::as_str), Some("eval \"$(cat)\""));
    assert_eq!(run.stdin, b"echo hi");
}

#[test]
fn a_pasted_command_has_the_environment_that_a_run_would_have() {
    let stand_in = StandIn::playing(Scenario::program());
    let config = stand_in.home().join(".docker");
    std::fs::create_dir(&config).unwrap();
    let proxies = r#"{"proxies": {"default": {"httpProxy": "http://user:secret@proxy"}}}"#;
    std::fs::write(config.join("config.json"), proxies).unwrap();
    let explained = Das::new(&stand_in).arg("explain").output().stdout_text();
    let shell = Cli::program(&stand_in, Path::new("/bin/sh"));
    shell.args(["-c", &explained]).env("HTTP_PROXY", "http://user:secret@proxy").status(0);
    let run = &stand_in.runs()[0];
    assert!(run.values("--env").contains(&"HTTP_PROXY"));
    assert!(run.env.is_empty(), "the engine's client would copy {:?}", run.env);
}

#[test]
fn what_cannot_run_cannot_be_explained() {
    let stand_in = StandIn::new();
    let explain = |args: &[&str]| Das::new(&stand_in).arg("explain").args(args.iter().copied());
    explain(&["-l", "cobol"])
        .stderr(
            "error: cannot make the command line\n  \
             caused by: the policy offers no language `cobol`, only python, node, shell\n",
        )
        .status(2);
    explain(&["--engine", "/nowhere/docker"])
        .stderr(
            "error: cannot make the command line\n  caused by: the engine `/nowhere/docker` is \
             not an executable file; install Docker or Podman, or name the program with --engine \
             PATH\n",
        )
        .status(125);
    explain(&["--memory", "8"])
        .stderr(
            "error: the policy is refused\n  caused by: `memory_mb` must be a whole number from \
             16 to 1048576, not 8\n\nhint: `das policy schema` lists every key with its range\n",
        )
        .status(2);
}
