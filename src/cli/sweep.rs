//! `das sweep`: removes what killed das processes left behind.

use std::io::{self, Write as _};

use clap::Args;
use serde_json::{Value, json};

use super::policy_args::PolicyFileArgs;
use super::{CliError, Exit, status};
use crate::engine::find::{self, HostEnv};
use crate::sanitize;
use crate::sweep::{Done, Judgement, KeepReason, Mode, RemoveReason, Sweep, Swept, sweep};

/// What it exits with where something could not be removed.
const LEFT: u8 = 1;

/// Remove the containers that killed das processes left behind.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    das sweep --dry-run\n  \
    das sweep --engine podman --json\n\n\
    A container goes when the process that it belongs to, on this machine, is gone. One of \
    another machine or boot, or of a das in a container, goes ten minutes after it has expired. \
    Nothing else is touched. `das run` and `das mcp` sweep too, in the background.\n\n\
    Exit codes: 0 nothing is left behind, 1 something could not be removed, 2 usage, \
    125 the engine cannot be asked."
)]
pub(super) struct SweepArgs {
    /// Remove nothing, and tell what would be.
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Print a JSON array of every container of das.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyFileArgs,
}

impl SweepArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let policy = self.policy.resolve()?;
        let engine = find::find(&policy.engine, &HostEnv::current()).map_err(CliError::NoEngine)?;
        let mode = if self.dry_run { Mode::Look } else { Mode::Remove };
        let swept = sweep(&engine, mode).map_err(CliError::Sweep)?;
        let text = if self.json { as_json(&swept, mode) } else { as_text(&swept, mode) };
        io::stdout().lock().write_all(text.as_bytes()).map_err(CliError::Write)?;
        if swept.not_understood > 0 {
            status::warn(&format!(
                "{} containers with das's label are not das's; they were left alone",
                swept.not_understood
            ));
        }
        Ok(Exit::Code(if swept.failed() { LEFT } else { 0 }))
    }
}

fn as_text(sweep: &Sweep, mode: Mode) -> String {
    if sweep.containers.is_empty() {
        return "nothing was left behind\n".to_owned();
    }
    let line = |swept: &Swept| {
        let (action, name, why) = (action(swept, mode), &swept.found.name, reason(swept).1);
        match &swept.done {
            Done::Failed(error) => {
                let error = sanitize::escape(error);
                format!("{action} {name}: {why}; {error}\n")
            }
            Done::Nothing | Done::Removed => format!("{action} {name}: {why}\n"),
        }
    };
    sweep.containers.iter().map(line).collect()
}

fn as_json(sweep: &Sweep, mode: Mode) -> String {
    let rows = sweep.containers.iter().map(|swept| {
        let error = match &swept.done {
            Done::Failed(error) => Some(error.as_str()),
            Done::Nothing | Done::Removed => None,
        };
        json!({
            "container": swept.found.name.as_str(),
            "id": swept.found.id,
            "state": swept.found.state.name(),
            "action": action(swept, mode).replace(' ', "_"),
            "reason": reason(swept).0,
            "error": error,
        })
    });
    format!("{}\n", Value::Array(rows.collect()))
}

fn action(swept: &Swept, mode: Mode) -> &'static str {
    match (&swept.done, swept.judgement, mode) {
        (Done::Removed, _, _) => "removed",
        (Done::Failed(_), _, _) => "failed",
        (Done::Nothing, Judgement::Remove(_), Mode::Look) => "would remove",
        (Done::Nothing, Judgement::Remove(_), Mode::Remove)
        | (Done::Nothing, Judgement::Keep(_), _) => "kept",
    }
}

/// The reason's name, and the reason in words.
fn reason(swept: &Swept) -> (&'static str, &'static str) {
    match swept.judgement {
        Judgement::Remove(RemoveReason::OwnerGone) => ("owner_gone", "its das is gone"),
        Judgement::Remove(RemoveReason::Expired) => ("expired", "it has expired"),
        Judgement::Keep(KeepReason::OwnerLives) => ("owner_lives", "its das lives"),
        Judgement::Keep(KeepReason::NotExpired) => {
            ("not_expired", "its das cannot be looked for, and it has not expired")
        }
        Judgement::Keep(KeepReason::Pasted) => ("pasted", "somebody started it by hand"),
        Judgement::Keep(KeepReason::NoExpiry) => {
            ("no_expiry", "its labels do not tell whose it is")
        }
    }
}
