//! `das audit verify`: whether a log is what das wrote.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::open;
use crate::audit::{Findings, Verifier};
use crate::cli::{CliError, Exit, status};
use crate::digest;
use crate::sanitize;

/// What a log with a fault exits with.
const BROKEN: u8 = 1;

/// Check that no line of an audit log was changed, removed or moved.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    das audit verify audit.jsonl\n  \
    das audit verify audit.jsonl.2 audit.jsonl.1 audit.jsonl\n  \
    das audit verify audit.jsonl --last-sha256 $DIGEST\n\n\
    A chain cannot tell that lines are missing at its very end, or that its last line was \
    changed. Keep the digest that this command prints where nobody else can write: a log that \
    has grown since still holds that line, and --last-sha256 looks for it.\n\n\
    Exit codes: 0 the log is whole, 1 it is not, 2 it cannot be read."
)]
pub(super) struct VerifyArgs {
    /// The log; with several, the oldest first.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A line with this SHA-256, as printed by an earlier check, must be there.
    #[arg(long, value_name = "SHA256", value_parser = parse_digest)]
    last_sha256: Option<String>,
    /// Print one JSON object for each file.
    #[arg(long)]
    json: bool,
}

impl VerifyArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let mut verifier = Verifier::default();
        if let Some(sha256) = &self.last_sha256 {
            verifier = verifier.looking_for(sha256);
        }
        let mut whole = true;
        for path in &self.files {
            let read = |source| CliError::Read { path: path.clone(), source };
            let file = open(path)?;
            let length = settled_length(&file).map_err(read)?;
            let findings = verifier.read(file.take(length)).map_err(read)?;
            whole &= findings.is_whole();
            let name = path.to_string_lossy();
            let text =
                if self.json { as_json(&name, &findings) } else { as_text(&name, &findings) };
            io::stdout().lock().write_all(text.as_bytes()).map_err(CliError::Write)?;
        }
        if let Some(sha256) = self.last_sha256.filter(|_| !verifier.found()) {
            status::warn(&format!("no line has the SHA-256 {sha256}: lines are missing"));
            whole = false;
        }
        Ok(Exit::Code(if whole { 0 } else { BROKEN }))
    }
}

/// The length that the log has while nobody writes, so that a record in the making is not taken
/// for a torn one. A log that somebody holds is read as it is: nothing is waited for.
fn settled_length(file: &File) -> io::Result<u64> {
    let locked = file.try_lock_shared().is_ok();
    let length = if file.metadata()?.is_file() { file.metadata()?.len() } else { u64::MAX };
    if locked {
        file.unlock()?;
    }
    Ok(length)
}

fn as_text(name: &str, findings: &Findings) -> String {
    let name = sanitize::escape(name);
    let faults = findings.faults.iter().map(ToString::to_string);
    let unlisted = Some(findings.unlisted).filter(|&count| count > 0);
    let more = unlisted.map(|count| format!("{count} more faults"));
    // In a broken log nobody vouches for them.
    let vouched = findings
        .torn
        .iter()
        .filter(|&&line| findings.is_whole() && !(findings.torn_end && line == findings.lines));
    let vouched = vouched.map(|line| format!("line {line}: no record; the next one counts it"));
    let torn =
        findings.torn_end.then(|| "the last line has no end; the next will follow it".into());
    let state = if findings.is_whole() { "whole" } else { "broken" };
    let plural = if findings.lines == 1 { "" } else { "s" };
    let state = format!("{state}, {} line{plural}", findings.lines);
    let last = findings.last_sha256.as_ref().map(|sha256| format!("  last {sha256}\n"));
    let lines = faults.chain(more).chain(vouched).chain(torn).chain([state]);
    let lines: Vec<String> = lines.map(|line| format!("{name}: {line}\n")).chain(last).collect();
    lines.concat()
}

fn as_json(name: &str, findings: &Findings) -> String {
    let faults: Vec<String> = findings.faults.iter().map(ToString::to_string).collect();
    let object = json!({
        "file": name,
        "whole": findings.is_whole(),
        "lines": findings.lines,
        "faults": faults,
        "more_faults": findings.unlisted,
        "torn_lines": findings.torn,
        "torn_end": findings.torn_end,
        "last_sha256": findings.last_sha256,
    });
    format!("{object}\n")
}

fn parse_digest(said: &str) -> Result<String, String> {
    let said = said.to_ascii_lowercase();
    if digest::is_sha256(&said) { Ok(said) } else { Err("expected 64 hexadecimal digits".into()) }
}
