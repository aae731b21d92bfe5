//! What das says on standard error beside the program's own output.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};

use crate::outcome::{Outcome, Verdict};
use crate::sanitize;

/// Begins each line of das's own, to tell it from the program's.
const PREFIX: &str = "[sandbox]";

/// Says something that the owner of the policy should know.
pub(super) fn warn(text: &str) {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    line(&format_args!("{yellow}warning:{yellow:#} {}", sanitize::escape(text)));
}

/// Says what das is doing.
pub(super) fn note(text: &str) {
    line(&format_args!("{}", sanitize::escape(text)));
}

/// Says how a run ended, and what to do about it.
pub(super) fn print(outcome: &Outcome) {
    if leaves_line_open(outcome) {
        // A closed stderr has no reader to mind.
        anstream::stderr().write_all(b"\n").ok();
    }
    let colour = match outcome.verdict {
        Verdict::Success => AnsiColor::Green,
        Verdict::Timeout | Verdict::OutOfMemory | Verdict::Cancelled => AnsiColor::Yellow,
        Verdict::Error | Verdict::CannotStart | Verdict::SandboxError => AnsiColor::Red,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let code = exit_code(outcome);
    let seconds = outcome.duration.as_secs_f64();
    line(&format_args!("{style}{}{style:#}{code} in {seconds:.2}s", outcome.verdict.name()));
    for (stream, captured) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
        if let Some(omitted) = captured.omitted() {
            let (total, left_out) = (captured.total(), omitted.bytes);
            line(&format_args!(
                "{stream}: {left_out} of {total} bytes left out; --max-output keeps more"
            ));
        }
    }
    if let Some(hint) = &outcome.hint {
        let green = Style::new().bold().fg_color(Some(AnsiColor::Green.into()));
        line(&format_args!("{green}hint:{green:#} {}", sanitize::escape(hint)));
    }
}

/// The code that the program chose, where the verdict does not tell it.
fn exit_code(outcome: &Outcome) -> String {
    match (outcome.verdict, outcome.exit_code) {
        (Verdict::Error | Verdict::CannotStart, Some(code)) => format!(" (exit code {code})"),
        _ => String::new(),
    }
}

/// Whether the program's last line on this terminal lacks its end.
fn leaves_line_open(outcome: &Outcome) -> bool {
    let open = |bytes: &[u8]| bytes.last().is_some_and(|&byte| byte != b'\n');
    let on_terminal = io::stdout().is_terminal() && io::stderr().is_terminal();
    open(outcome.stderr.bytes()) || on_terminal && open(outcome.stdout.bytes())
}

fn line(text: &impl Display) {
    let dim = Style::new().dimmed();
    // A closed stderr has no reader to mind.
    writeln!(anstream::stderr().lock(), "{dim}{PREFIX}{dim:#} {text}").ok();
}
