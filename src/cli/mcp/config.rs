//! `das mcp config`: what an MCP client is to be told, with this das's own path.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum as _};

use super::ServeArgs;
use super::client::{Client, Entry, System};
use crate::cli::{CliError, Exit};
use crate::language::DEFAULT_LANGUAGE;
use crate::plan::CheckedPolicy;
use crate::policy::SandboxPolicy;

/// What says where the engine is; clients do not pass it on.
const ENGINE_VARIABLES: [&str; 4] =
    ["DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "XDG_RUNTIME_DIR"];

/// How much longer than a program a call may take: it may wait for its turn, or for an image.
const PATIENCE_SECONDS: f64 = 60.0;

/// Print a client's configuration for this das, with this policy.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    das mcp config --list\n  \
    das mcp config claude-code --policy strict.json --audit-log audit.jsonl\n\n\
    The configuration goes to standard output, and what to do with it to standard error."
)]
pub(super) struct ConfigArgs {
    /// The client.
    #[arg(value_name = "CLIENT", required_unless_present = "list")]
    client: Option<Client>,
    /// List the clients that das knows.
    #[arg(long, conflicts_with = "client")]
    list: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

impl ConfigArgs {
    pub(super) fn execute(&self) -> Result<Exit, CliError> {
        let text = match self.client {
            None => clients(),
            Some(client) => {
                let entry = self.entry()?;
                let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("~"));
                tell(&client.instructions(&entry, &home, system()));
                client.configuration(&entry)
            }
        };
        io::stdout().lock().write_all(text.as_bytes()).map_err(CliError::Write)?;
        Ok(Exit::Code(0))
    }

    /// Refuses what `das mcp` itself would refuse: nobody reads its stderr there.
    fn entry(&self) -> Result<Entry, CliError> {
        let policy = self.serve.policy.resolve_for(DEFAULT_LANGUAGE)?;
        let policy = CheckedPolicy::new(policy).map_err(CliError::Refused)?;
        let policy = policy.policy();
        let command = std::env::current_exe().map_err(CliError::OwnPath)?;
        let policy_file = self.serve.policy.file().map(absolute).transpose()?;
        let audit_log = self.serve.record.audit_log();
        let written = audit_log.map(absolute).transpose()?;
        let mut args = vec!["mcp".to_owned()];
        if let Some(log) = &written {
            args.extend(["--audit-log".to_owned(), log.clone()]);
        }
        args.extend(self.serve.policy.words(policy_file.as_deref(), absolute)?);
        Ok(Entry {
            command: text(&command)?,
            args,
            env: engine_variables(),
            patience: patience(policy),
            docker: docker(),
            reads: policy_file.into_iter().chain(work_dir(policy)?).collect(),
            writes: audit_log.map(directory).transpose()?,
        })
    }
}

/// Where stderr is closed there is nobody to tell.
fn tell(lines: &[String]) {
    let mut stderr = anstream::stderr().lock();
    for line in lines {
        writeln!(stderr, "{line}").ok();
    }
    writeln!(stderr).ok();
}

fn work_dir(policy: &SandboxPolicy) -> Result<Option<String>, CliError> {
    policy.work_dir.as_ref().map(|dir| text(&dir.path)).transpose()
}

/// The directory of a file.
fn directory(file: &Path) -> Result<String, CliError> {
    let file = absolute(file)?;
    Ok(Path::new(&file).parent().and_then(Path::to_str).unwrap_or("/").to_owned())
}

fn clients() -> String {
    let line = |client: &Client| {
        let value = client.to_possible_value()?;
        let title = value.get_help().map(ToString::to_string).unwrap_or_default();
        Some(format!("{:<16}{title}\n", value.get_name()))
    };
    Client::value_variants().iter().filter_map(line).collect()
}

fn system() -> System {
    if cfg!(target_os = "macos") { System::MacOs } else { System::Linux }
}

fn absolute(path: &Path) -> Result<String, CliError> {
    let read = |source| CliError::Read { path: path.to_owned(), source };
    text(&std::path::absolute(path).map_err(read)?)
}

fn text(path: &Path) -> Result<String, CliError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| CliError::NotText { path: path.to_owned() })
}

fn engine_variables() -> Vec<(String, String)> {
    let set = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
    ENGINE_VARIABLES.into_iter().filter_map(set).filter(|(_, value)| !value.is_empty()).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a policy's timeout is between 0.1 and 3600"
)]
fn patience(policy: &SandboxPolicy) -> u64 {
    (policy.timeout_seconds + PATIENCE_SECONDS).ceil() as u64
}

fn docker() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| dir.join("docker"))
        .find(|program| program.is_file())
        .and_then(|program| program.to_str().map(str::to_owned))
        .unwrap_or_else(|| "/usr/bin/docker".to_owned())
}
