//! `das image list`: which images the policy uses and das has made, and whether they are there.

use std::io::{self, Write as _};

use clap::Args;
use jiff::Timestamp;

use super::resolve;
use crate::cli::policy_args::PolicyFileArgs;
use crate::cli::{CliError, Exit};
use crate::images::error::ImageError;
use crate::images::inventory::inventory;
use crate::images::table::table;

/// List the images of the policy, and those that das has made.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Print a JSON array.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyFileArgs,
}

impl ListArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let (policy, engine) = resolve(&self.policy)?;
        let rows = inventory(&engine, &policy)
            .map_err(|error| CliError::Image(ImageError::Engine(error)))?;
        let text = if self.json {
            format!("{}\n", serde_json::to_string(&rows).expect("rows are plain data"))
        } else {
            table(&rows, Timestamp::now())
        };
        io::stdout().lock().write_all(text.as_bytes()).map_err(CliError::Write)?;
        Ok(Exit::Code(0))
    }
}
