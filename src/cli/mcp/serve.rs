//! Serves one client until it goes, or until a signal comes.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use super::{ServeArgs, parent};
use crate::cli::{CliError, Exit, signals, status};
use crate::language::DEFAULT_LANGUAGE;
use crate::mcp::{self, End, Ended};
use crate::sandbox::Sandbox;

impl ServeArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let sandbox = self.sandbox()?;
        for warning in sandbox.policy().warnings() {
            status::warn(&warning);
        }
        if sandbox.policy().policy().warm > 0 {
            status::note("containers are kept ready for the next calls; `--warm 0` stops that");
        }
        if io::stdin().is_terminal() {
            status::note("an MCP client is to start this; `das mcp config --list` tells which can");
        }
        let sandbox = Arc::new(sandbox.with_parked_containers());
        let server = mcp::server(Arc::clone(&sandbox), status::warn);
        let stopper = server.stopper();
        let (sender, caught) = channel();
        signals::on_first_signal(move |signal| {
            // Sent before the stop, so that whoever sees the end can tell its cause.
            sender.send(signal).ok();
            stopper.stop();
        })
        .map_err(CliError::Signals)?;
        parent::stop_when_gone(server.stopper()).map_err(CliError::Thread)?;
        let ended = server.serve(io::stdin(), io::stdout()).map_err(CliError::Serve)?;
        // Its end has been waited for, within a bound. What is left is the watchdog's: das must
        // be gone in time, and dropping the sandbox would wait once more.
        std::mem::forget(sandbox);
        exit(ended, &caught)
    }

    fn sandbox(&self) -> Result<Sandbox, CliError> {
        self.record.sandbox(mcp::fitting(self.policy.resolve_for(DEFAULT_LANGUAGE)?))
    }
}

fn exit(ended: Ended, caught: &Receiver<i32>) -> Result<Exit, CliError> {
    let Ended { end, unfinished, retired } = ended;
    if unfinished > 0 {
        status::warn(&format!(
            "{unfinished} runs had not ended when das did; their containers are removed after it"
        ));
    }
    if !retired {
        status::warn("parked containers had not ended when das did; they are removed after it");
    }
    match end {
        End::InputEnded => Ok(Exit::Code(0)),
        End::Stopped => Ok(caught.try_recv().map_or(Exit::Code(0), Exit::Signal)),
        End::InputFailed(error) => Err(CliError::ReadStdin(error)),
        End::OutputFailed(error) => Err(CliError::Write(error)),
        End::OutputStuck => Err(CliError::Serve(io::Error::other("the client does not read"))),
    }
}
