//! `das explain`: the exact command that a run would execute.

use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::Args;

use super::policy_args::PolicyArgs;
use super::{CliError, Exit};
use crate::language::DEFAULT_LANGUAGE;
use crate::lesson::{self, Colour};
use crate::plan::argv::Argv;
use crate::sandbox::Sandbox;
use crate::walls::opened;

/// Print the exact command line that `das run` would execute, and run nothing.
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:\n  \
    das explain\n  \
    das explain -l shell --memory 512\n  \
    das explain --why\n  \
    das explain --diff --memory 512\n  \
    echo 'echo hi' | sh -c \"$(das explain -l shell)\"\n\n\
    The command can be pasted into a shell; it reads the program from standard input. Only the \
    time limit and the output limit are das's own and have no flag."
)]
pub(super) struct ExplainArgs {
    /// The language of the program.
    #[arg(short, long, value_name = "LANGUAGE", default_value = DEFAULT_LANGUAGE)]
    language: String,
    /// Print the command line as a JSON array of its words.
    #[arg(long)]
    json: bool,
    /// Print above each flag what it does and how to see it; the command can still be pasted.
    #[arg(long, conflicts_with = "json")]
    why: bool,
    /// Print what plain `docker run -i IMAGE` would have allowed instead, wall by wall, and what
    /// this policy opens compared with the defaults.
    #[arg(long, conflicts_with_all = ["json", "why"])]
    diff: bool,
    #[command(flatten)]
    policy: PolicyArgs,
}

impl ExplainArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let policy = self.policy.resolve_for(&self.language)?;
        let sandbox = Sandbox::new(policy).map_err(CliError::Refused)?;
        // The command is never filtered: what looks like a colour may be a word of it.
        let mut out = io::stdout().lock();
        let colour = match AutoStream::choice(&out) {
            ColorChoice::Never => Colour::Off,
            ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => Colour::On,
        };
        let written = if self.diff {
            let checked = sandbox.policy();
            let plan = checked.plan(&self.language).map_err(CliError::Policy)?;
            let changes = opened::changes(checked.policy(), &checked.allowed_calls());
            lesson::diff(plan.image().as_str(), &changes, colour, &mut out)
        } else {
            let argv = sandbox.explain(&self.language).map_err(CliError::Explain)?;
            self.write(&argv, colour, &mut out)
        };
        written.map_err(CliError::Write)?;
        Ok(Exit::Code(0))
    }

    fn write(&self, argv: &Argv, colour: Colour, out: &mut impl io::Write) -> io::Result<()> {
        if self.json {
            let words: Vec<&str> = argv.words().collect();
            writeln!(out, "{}", serde_json::to_string(&words).expect("words are plain data"))
        } else if self.why {
            lesson::why(argv, colour, out)
        } else {
            writeln!(out, "{argv}")
        }
    }
}
