//! `das mcp config`: its output goes into a client as it is.

use serde_json::{Value, json};

use crate::support::{Das, Place as _, StandIn};

const CLIENTS: &str = "claude-desktop  Claude Desktop
claude-code     Claude Code
vscode          Visual Studio Code
cursor          Cursor
goose           goose
codex           Codex
docker-gateway  Docker MCP Gateway
";

#[test]
fn the_clients_are_listed() {
    Das::new(&StandIn::new()).args(["mcp", "config", "--list"]).stdout(CLIENTS).status(0);
}

#[test]
fn every_listed_client_has_a_configuration_that_names_this_das() {
    let stand_in = StandIn::new();
    for line in CLIENTS.lines() {
        let client = line.split_whitespace().next().unwrap();
        let finished = Das::new(&stand_in).args(["mcp", "config", client]).output();
        assert_eq!(finished.code(), Some(0));
        assert!(finished.stdout_text().contains(env!("CARGO_BIN_EXE_das")), "{client}");
        assert!(!finished.stderr_text().is_empty(), "{client}: where does it go?");
    }
}

#[test]
fn policy_audit_log_and_directories_are_named_by_absolute_paths() {
    let stand_in = StandIn::new();
    std::fs::write(stand_in.home().join("strict.json"), "{}").unwrap();
    let finished = Das::new(&stand_in)
        .args(["mcp", "config", "cursor", "--policy", "strict.json", "--audit-log", "audit.jsonl"])
        .args(["--work-dir", "bin", "--memory", "128", "--timeout", "2.5", "--env", "A=b c"])
        .args(["--image", "python:3", "--pull", "never", "--engine", "podman", "--allow-network"])
        .output();
    let home = stand_in.home().display();
    let configuration: Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!(
        configuration["mcpServers"]["das"]["args"],
        json!([
            "mcp",
            "--audit-log",
            format!("{home}/audit.jsonl"),
            "--policy",
            format!("{home}/strict.json"),
            "--timeout",
            "2.5",
            "--memory",
            "128",
            "--image",
            "python:3",
            "--env",
            "A=b c",
            "--work-dir",
            format!("{home}/bin:ro"),
            "--engine",
            "podman",
            "--pull",
            "never",
            "--allow-network",
        ])
    );
}

#[test]
fn a_policy_from_the_environment_is_chosen_too() {
    let stand_in = StandIn::new();
    std::fs::write(stand_in.home().join("strict.json"), "{}").unwrap();
    let finished = Das::new(&stand_in)
        .args(["mcp", "config", "codex"])
        .env("DAS_POLICY", "strict.json")
        .env("DOCKER_HOST", "unix:///run/my.sock")
        .env("DOCKER_CONTEXT", "")
        .output();
    let text = finished.stdout_text();
    let policy = stand_in.home().join("strict.json");
    assert!(text.contains(&format!("args = [\"mcp\", \"--policy\", {policy:?}]")), "{text}");
    assert!(text.contains("env = { DOCKER_HOST = \"unix:///run/my.sock\" }"), "{text}");
}

#[test]
fn the_printed_command_serves() {
    let stand_in = StandIn::new();
    let finished = Das::new(&stand_in)
        .args(["mcp", "config", "claude-code", "--cpus", "1", "--warm", "0"])
        .output();
    let configuration: Value = serde_json::from_slice(&finished.stdout).unwrap();
    let server = &configuration["mcpServers"]["das"];
    let args: Vec<String> = serde_json::from_value(server["args"].clone()).unwrap();
    assert_eq!(server["command"], env!("CARGO_BIN_EXE_das"));
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    let finished = Das::new(&stand_in).args(args).stdin(ping).output();
    assert_eq!((finished.code(), finished.stdout_text().as_str()), (Some(0), answer));
}

#[test]
fn what_the_server_would_refuse_is_refused_before_it_is_configured() {
    let stand_in = StandIn::new();
    for args in [&["--memory", "1"][..], &["--policy", "missing.json"], &["--work-dir", "/"]] {
        let finished = Das::new(&stand_in)
            .args(["mcp", "config", "goose"])
            .args(args.iter().copied())
            .output();
        assert_eq!(finished.code(), Some(2), "{args:?}: {}", finished.stderr_text());
        assert!(finished.stdout.is_empty());
    }
}

#[test]
fn neither_a_client_nor_the_list_is_a_usage_error() {
    let finished = Das::new(&StandIn::new()).args(["mcp", "config"]).output();
    assert_eq!(finished.code(), Some(2));
    let finished = Das::new(&StandIn::new()).args(["mcp", "config", "netscape"]).output();
    assert_eq!(finished.code(), Some(2));
    assert!(finished.stderr_text().contains("claude-desktop"), "it does not say which there are");
}
