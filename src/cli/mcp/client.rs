//! The clients that das knows: what each is configured with and where that goes.
//!
//! Pure: the caller says where das is and what it is started with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use super::format::{json, list, shell, toml};

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code
    ClaudeCode,
    /// Visual Studio Code
    #[value(name = "vscode")]
    VsCode,
    /// Cursor
    Cursor,
    /// goose
    Goose,
    /// Codex
    Codex,
    /// Docker MCP Gateway
    DockerGateway,
}

/// How das is to be started.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// das's own absolute path.
    pub(super) command: String,
    /// What follows it.
    pub(super) args: Vec<String>,
    /// What das needs of the environment to find the engine; clients pass on next to nothing.
    pub(super) env: Vec<(String, String)>,
    /// How long the client should wait for an answer, in seconds.
    pub(super) patience: u64,
    /// The engine's own program, for a client that puts das into a container.
    pub(super) docker: String,
    /// What das reads beside itself, for the same client.
    pub(super) reads: Vec<String>,
    /// The directory that das writes to, for the same client.
    pub(super) writes: Option<String>,
}

/// Which system the client runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    MacOs,
}

impl Client {
    /// What the client is configured with.
    pub(super) fn configuration(self, entry: &Entry) -> String {
        match self {
            Self::ClaudeDesktop => json_file("mcpServers", &Server { kind: None, ..entry.into() }),
            Self::ClaudeCode => {
                let timeout = Some(entry.patience * 1000);
                json_file("mcpServers", &Server { timeout, ..entry.into() })
            }
            Self::Cursor => json_file("mcpServers", &entry.into()),
            Self::VsCode => json_file("servers", &entry.into()),
            Self::Goose => goose(entry),
            Self::Codex => codex(entry),
            Self::DockerGateway => docker_gateway(entry),
        }
    }

    /// What is to be done with it.
    pub(super) fn instructions(self, entry: &Entry, home: &Path, system: System) -> Vec<String> {
        let merge = |file: PathBuf| format!("merge it into {}", file.display());
        let support = home.join("Library/Application Support");
        let config = match system {
            System::Linux => home.join(".config"),
            System::MacOs => support,
        };
        match self {
            Self::ClaudeDesktop => vec![
                merge(config.join("Claude/claude_desktop_config.json")),
                "then restart Claude Desktop; it waits 60 s for an answer, whatever is configured"
                    .to_owned(),
            ],
            Self::ClaudeCode => vec![
                "save it as .mcp.json in a project, or run this for all projects:".to_owned(),
                format!("  {}", claude_mcp_add(entry)),
            ],
            Self::VsCode => vec![
                "save it as .vscode/mcp.json in a workspace, or for all of them".to_owned(),
                merge(config.join("Code/User/mcp.json")),
            ],
            Self::Cursor => vec![
                merge(home.join(".cursor/mcp.json")),
                "or save it as .cursor/mcp.json in a project".to_owned(),
            ],
            Self::Goose => vec![merge(home.join(".config/goose/config.yaml"))],
            Self::Codex => vec![merge(home.join(".codex/config.toml"))],
            Self::DockerGateway => gateway_instructions(entry),
        }
    }
}

fn gateway_instructions(entry: &Entry) -> Vec<String> {
    let writes = entry
        .writes
        .iter()
        .map(|dir| format!("the gateway needs MCP_GATEWAY_DOCKER_BIND_ALLOW_WRITABLE_PATHS={dir}"));
    let lines = [
        "save it as das.yaml, then add it to a profile:",
        "  docker mcp profile server add default --server file://./das.yaml",
        "the gateway runs every server in a container; this one gets the engine's socket, and with",
        "it the whole machine: a client that starts das itself is safer",
    ];
    lines.map(str::to_owned).into_iter().chain(writes).collect()
}

/// A server in a JSON file, keys in the order in which people expect them.
#[derive(Debug, Serialize)]
struct Server<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    command: &'a str,
    args: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_object")]
    env: &'a [(String, String)],
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
}

impl<'a> From<&'a Entry> for Server<'a> {
    fn from(entry: &'a Entry) -> Self {
        let Entry { command, args, env, .. } = entry;
        Self { kind: Some("stdio"), command, args, env, timeout: None }
    }
}

fn as_object<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(Some(pairs.len()))?;
    for (name, value) in pairs {
        object.serialize_entry(name, value)?;
    }
    object.end()
}

/// A file that holds das alone among the servers under `key`.
fn json_file(key: &str, server: &Server<'_>) -> String {
    let servers = BTreeMap::from([("das", server)]);
    let file = BTreeMap::from([(key, servers)]);
    let mut text = serde_json::to_string_pretty(&file).expect("a configuration is plain data");
    text.push('\n');
    text
}

fn claude_mcp_add(entry: &Entry) -> String {
    let env = entry.env.iter().map(|(name, value)| format!("{name}={value}"));
    let env: Vec<_> = env.flat_map(|variable| ["--env".to_owned(), variable]).collect();
    // Its `--env` takes all words up to the next option, so the name must not follow it.
    let start = ["claude", "mcp", "add"].into_iter().chain(env.iter().map(String::as_str));
    let words = start.chain(["--transport", "stdio", "--scope", "user", "das", "--"]);
    let words = words.chain([entry.command.as_str()]);
    let words = words.chain(entry.args.iter().map(String::as_str));
    shell(words)
}

fn goose(entry: &Entry) -> String {
    let envs: Vec<_> =
        entry.env.iter().map(|(name, value)| format!("{}: {}", json(name), json(value))).collect();
    format!(
        "extensions:\n  das:\n    name: das\n    type: stdio\n    enabled: true\n    cmd: {}\n    \
         args: {}\n    env_keys: []\n    envs: {{{}}}\n    timeout: {}\n",
        json(&entry.command),
        list(&entry.args, json),
        envs.join(", "),
        entry.patience,
    )
}

fn codex(entry: &Entry) -> String {
    let env: Vec<_> =
        entry.env.iter().map(|(name, value)| format!("{name} = {}", toml(value))).collect();
    let env =
        if env.is_empty() { String::new() } else { format!("env = {{ {} }}\n", env.join(", ")) };
    format!(
        "[mcp_servers.das]\ncommand = {}\nargs = {}\n{env}startup_timeout_sec = 10\ntool_timeout_sec = {}\n",
        toml(&entry.command),
        list(&entry.args, toml),
        entry.patience,
    )
}

/// The gateway starts nothing but containers: das, the engine's program and das's files are
/// mounted into one under the paths that they have outside.
fn docker_gateway(entry: &Entry) -> String {
    let read_only = [&entry.command, &entry.docker].into_iter().chain(&entry.reads);
    let read_only = read_only.map(|path| format!("{path}:{path}:ro"));
    let volumes = read_only.chain(entry.writes.iter().map(|dir| format!("{dir}:{dir}:rw")));
    let socket = "/var/run/docker.sock:/var/run/docker.sock".to_owned();
    let volumes: Vec<_> = volumes.chain([socket]).collect();
    let command: Vec<_> = [&entry.command].into_iter().chain(&entry.args).cloned().collect();
    format!(
        "name: das\ntitle: das\ntype: server\n\
         description: Run code in a fresh, hardened, throwaway container.\n\
         image: debian:stable-slim\nlongLived: true\ncommand: {}\nvolumes: {}\ndisableNetwork: true\n",
        list(&command, json),
        list(&volumes, json),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            command: "/opt/a b/das".to_owned(),
            args: vec!["mcp".to_owned(), "--policy".to_owned(), "/p/strict.json".to_owned()],
            env: vec![("DOCKER_HOST".to_owned(), "unix:///run/x.sock".to_owned())],
            patience: 70,
            docker: "/usr/bin/docker".to_owned(),
            reads: vec!["/p/strict.json".to_owned()],
            writes: Some("/var/log/das".to_owned()),
        }
    }

    #[test]
    fn json_files_have_the_key_and_the_fields_that_their_client_reads() {
        let common = r#""command": "/opt/a b/das",
      "args": [
        "mcp",
        "--policy",
        "/p/strict.json"
      ],
      "env": {
        "DOCKER_HOST": "unix:///run/x.sock"
      }"#;
        for (client, key, before, after) in [
            (Client::ClaudeDesktop, "mcpServers", "", ""),
            (
                Client::ClaudeCode,
                "mcpServers",
                "\"type\": \"stdio\",\n      ",
                ",\n      \"timeout\": 70000",
            ),
            (Client::Cursor, "mcpServers", "\"type\": \"stdio\",\n      ", ""),
            (Client::VsCode, "servers", "\"type\": \"stdio\",\n      ", ""),
        ] {
            let expected = format!(
                "{{\n  \"{key}\": {{\n    \"das\": {{\n      {before}{common}{after}\n    }}\n  }}\n}}\n"
            );
            assert_eq!(client.configuration(&entry()), expected);
        }
    }

    #[test]
    fn an_empty_environment_is_left_out() {
        let entry = Entry { env: Vec::new(), ..entry() };
        assert!(!Client::Cursor.configuration(&entry).contains("env"));
        assert!(!Client::Codex.configuration(&entry).contains("env"));
    }

    #[test]
    fn goose_gets_yaml() {
        assert_eq!(
            Client::Goose.configuration(&entry()),
            r#"extensions:
  das:
    name: das
    type: stdio
    enabled: true
    cmd: "/opt/a b/das"
    args: ["mcp", "--policy", "/p/strict.json"]
    env_keys: []
    envs: {"DOCKER_HOST": "unix:///run/x.sock"}
    timeout: 70
"#
        );
    }

    #[test]
    fn codex_gets_toml() {
        assert_eq!(
            Client::Codex.configuration(&entry()),
            r#"[mcp_servers.das]
command = "/opt/a b/das"
args = ["mcp", "--policy", "/p/strict.json"]
env = { DOCKER_HOST = "unix:///run/x.sock" }
startup_timeout_sec = 10
tool_timeout_sec = 70
"#
        );
    }

    #[test]
    fn the_gateway_gets_a_server_whose_container_holds_all_that_das_needs() {
        assert_eq!(
            Client::DockerGateway.configuration(&entry()),
            r#"name: das
title: das
type: server
description: Run code in a fresh, hardened, throwaway container.
image: debian:stable-slim
longLived: true
command: ["/opt/a b/das", "mcp", "--policy", "/p/strict.json"]
volumes: ["/opt/a b/das:/opt/a b/das:ro", "/usr/bin/docker:/usr/bin/docker:ro", "/p/strict.json:/p/strict.json:ro", "/var/log/das:/var/log/das:rw", "/var/run/docker.sock:/var/run/docker.sock"]
disableNetwork: true
"#
        );
    }

    #[test]
    fn the_instructions_name_the_file_of_this_system() {
        let first = |client: Client, system| {
            client.instructions(&entry(), Path::new("/home/me"), system).join("\n")
        };
        for (client, system, file) in [
            (
                Client::ClaudeDesktop,
                System::Linux,
                "/home/me/.config/Claude/claude_desktop_config.json",
            ),
            (
                Client::ClaudeDesktop,
                System::MacOs,
                "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
            ),
            (Client::VsCode, System::Linux, "/home/me/.config/Code/User/mcp.json"),
            (Client::Cursor, System::MacOs, "/home/me/.cursor/mcp.json"),
            (Client::Goose, System::Linux, "/home/me/.config/goose/config.yaml"),
            (Client::Codex, System::Linux, "/home/me/.codex/config.toml"),
            (Client::DockerGateway, System::Linux, "ALLOW_WRITABLE_PATHS=/var/log/das"),
        ] {
            let text = first(client, system);
            assert!(text.contains(file), "{file} is not in {text}");
        }
    }

    #[test]
    fn claude_code_is_told_the_command_that_adds_das() {
        assert_eq!(
            claude_mcp_add(&entry()),
            "claude mcp add --env 'DOCKER_HOST=unix:///run/x.sock' --transport stdio --scope user das \
             -- '/opt/a b/das' mcp --policy /p/strict.json"
        );
    }
}
