//! One line on a terminal that says how far many runs are.

use std::io::{self, IsTerminal as _, Write as _};

/// Back to the line's beginning, and the line emptied.
const CLEAR: &[u8] = b"\r\x1b[2K";

/// The line. It is there only while somebody watches.
#[derive(Debug)]
pub(super) struct ProgressLine {
    total: usize,
    watched: Watched,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watched {
    OnTerminal,
    ByNobody,
}

impl ProgressLine {
    /// For so many runs, if standard error is a terminal.
    pub(super) fn on_stderr(total: usize) -> Self {
        let terminal = io::stderr().is_terminal();
        Self { total, watched: if terminal { Watched::OnTerminal } else { Watched::ByNobody } }
    }

    /// For nobody.
    pub(super) fn hidden() -> Self {
        Self { total: 0, watched: Watched::ByNobody }
    }

    /// Shows how many are done.
    pub(super) fn show(&self, done: usize) {
        let left = self.total.saturating_sub(done);
        self.write(format!("{done} of {} done, {left} to go", self.total).as_bytes());
    }

    /// Makes room for something else.
    pub(super) fn clear(&self) {
        self.write(b"");
    }

    fn write(&self, text: &[u8]) {
        match self.watched {
            Watched::ByNobody => {}
            // A closed stderr has no reader to mind.
            Watched::OnTerminal => {
                io::stderr().write_all(&[CLEAR, text].concat()).unwrap_or(());
            }
        }
    }
}
