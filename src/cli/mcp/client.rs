//! The clients that das knows: what each is configured with and where that goes.
//!
//! Pure: the caller says where das is and what it is started with.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

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
    /// Files that das is started with, for the same client.
    pub(super) files: Vec<String>,
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
            Self::ClaudeDesktop => pretty(&json!({"mcpServers": {"das": entry.plain()}})),
            Self::ClaudeCode => {
                let mut server = entry.stdio();
                server.insert("timeout".to_owned(), json!(entry.patience * 1000));
                pretty(&json!({"mcpServers": {"das": server}}))
            }
            Self::Cursor => pretty(&json!({"mcpServers": {"das": entry.stdio()}})),
            Self::VsCode => pretty(&json!({"servers": {"das": entry.stdio()}})),
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
            Self::DockerGateway => vec![
                "save it as das.yaml, then add it to a profile:".to_owned(),
                "  docker mcp profile server add default --server file://./das.yaml".to_owned(),
                "the gateway runs every server in a container; this one gets the engine's socket, \
                 and with it the whole machine: a client that starts das itself is safer"
                    .to_owned(),
            ],
        }
    }
}

impl Entry {
    fn plain(&self) -> Map<String, Value> {
        let mut server = Map::new();
        server.insert("command".to_owned(), json!(self.command));
        server.insert("args".to_owned(), json!(self.args));
        if !self.env.is_empty() {
            let env: Map<_, _> = self.env.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
            server.insert("env".to_owned(), Value::Object(env));
        }
        server
    }

    fn stdio(&self) -> Map<String, Value> {
        let mut server = self.plain();
        server.insert("type".to_owned(), json!("stdio"));
        server
    }
}

fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a configuration is plain data");
    text.push('\n');
    text
}

fn claude_mcp_add(entry: &Entry) -> String {
    let env = entry.env.iter().map(|(name, value)| format!("{name}={value}"));
    let env: Vec<_> = env.flat_map(|variable| ["--env".to_owned(), variable]).collect();
    let start = ["claude", "mcp", "add", "--transport", "stdio", "--scope", "user", "das"];
    let words = start.into_iter().chain(env.iter().map(String::as_str));
    let words = words.chain(["--", &entry.command]).chain(entry.args.iter().map(String::as_str));
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
    let read_only = [&entry.command, &entry.docker].into_iter().chain(&entry.files);
    let volumes = read_only.map(|path| format!("{path}:{path}:ro"));
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
