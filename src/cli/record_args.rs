//! Where runs are recorded, for the commands that run something.

use std::path::{Path, PathBuf};

use clap::Args;

use super::CliError;
use super::policy_args::path_or_nothing;
use crate::audit::AuditLog;
use crate::policy::SandboxPolicy;
use crate::sandbox::Sandbox;
use crate::sweep::Rhythm;

/// The audit log.
#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// Append a JSON line for each run to this file; without it nothing runs.
    #[arg(long, value_name = "FILE", env = "DAS_AUDIT_LOG", value_parser = path_or_nothing())]
    audit_log: Option<PathBuf>,
}

impl RecordArgs {
    /// The file, if one is named. A variable that a host leaves empty names none.
    pub(super) fn audit_log(&self) -> Option<&Path> {
        self.audit_log.as_deref().filter(|path| !path.as_os_str().is_empty())
    }

    /// A sandbox that records its runs, and in the background removes what dead owners left.
    pub(super) fn sandbox(&self, policy: SandboxPolicy) -> Result<Sandbox, CliError> {
        let sandbox = Sandbox::new(policy).map_err(CliError::Refused)?;
        let sandbox = sandbox.with_sweeps(Rhythm::default());
        Ok(match self.audit_log() {
            Some(path) => sandbox.with_audit(AuditLog::new(path)),
            None => sandbox,
        })
    }
}
