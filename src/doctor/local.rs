//! What das needs of this machine itself, whatever the engine.

use std::path::Path;
use std::time::Duration;

use super::ask::chain;
use super::finding::Finding;
use crate::audit::AuditLog;
use crate::engine::Engine;
use crate::engine::command::CommandLine;
use crate::policy::SandboxPolicy;

/// How long a shell may take to do nothing.
const BOUND: Duration = Duration::from_secs(5);

/// What the owner of the policy hears on every run.
pub(super) fn policy(warnings: &[String]) -> Vec<Finding> {
    let fix = "the policy says so: change it if this is not meant";
    let found: Vec<Finding> =
        warnings.iter().map(|warning| Finding::note("policy", warning.as_str(), fix)).collect();
    if found.is_empty() { vec![Finding::ok("policy", "opens no wall")] } else { found }
}

/// The log is opened as a run would open it, and nothing is written.
pub(super) fn audit_log(path: &Path) -> Vec<Finding> {
    vec![match AuditLog::new(path).prepare() {
        Ok(_) => Finding::ok("audit-log", format!("{} can be written", path.display())),
        Err(error) => Finding::broken(
            "audit-log",
            chain(&error),
            "a run that cannot be recorded is not started: mend the log or name another",
        ),
    }]
}

/// The watchdog that outlives das is a small shell script.
pub(super) fn watchdog(engine: &Engine, _: &SandboxPolicy) -> Vec<Finding> {
    let shell = CommandLine {
        env: engine.facts().env.clone(),
        ..CommandLine::new("sh", ["-c", "read -r line; exit 7"])
    };
    let broken = |why: String| {
        Finding::broken("watchdog", why, "put a POSIX `sh` into PATH: without one nothing is run")
    };
    vec![match shell.run(BOUND) {
        Ok(finished) if finished.status.code() == Some(7) => {
            Finding::ok("watchdog", "`sh` is there to outlive a killed das")
        }
        Ok(finished) => broken(format!("`sh` does not work: {}", finished.status)),
        Err(error) => broken(chain(&error)),
    }]
}
