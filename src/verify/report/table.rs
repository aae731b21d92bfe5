//! The table that people read: 80 columns, understandable without colour.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Finding, Report, State, Subject};
use crate::sanitize;
use crate::walls::Wall;
use crate::wrap::wrap;

/// Where the evidence begins: after the longest names of a wall and of a state.
const INDENT: usize = 24;

/// The width of a line.
const WIDTH: usize = 80;

/// What stands above the table.
pub fn heading(subject: &Subject, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let bold = Style::new().bold();
    let Subject { language, image, engine, runtime } = subject;
    let runtime = runtime.as_ref().map(|name| format!(", runtime {name}")).unwrap_or_default();
    let text =
        sanitize::escape(&format!("{language} in {image} on {engine}{runtime}")).into_owned();
    writeln!(out, "{text}\n")?;
    writeln!(out, "{bold}{:<15}{:<9}EVIDENCE{bold:#}", "WALL", "STATE")
}

/// One wall.
pub fn row(finding: &Finding, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let Finding { wall, state, evidence } = finding;
    let style = style(*state);
    let evidence = sanitize::escape(evidence).into_owned();
    let mut lines = wrap(&evidence, WIDTH - INDENT).into_iter();
    let first = lines.next().unwrap_or_default();
    writeln!(out, "{:<15}{style}{:<9}{style:#}{first}", wall.name(), state.name())?;
    for line in lines {
        writeln!(out, "{:INDENT$}{line}", "")?;
    }
    Ok(())
}

/// What stands below the table: the sum, and what to do about each wall that does not hold.
pub fn summary(report: &Report, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let states = [State::Held, State::Open, State::Broken, State::Unknown];
    let counts = states.into_iter().filter(|state| report.count(*state) > 0).map(|state| {
        let style = style(state);
        let name = match state {
            State::Open => "open by policy".to_owned(),
            State::Held | State::Broken | State::Unknown => state.name().to_ascii_lowercase(),
        };
        format!("{style}{} {name}{style:#}", report.count(state))
    });
    let counts: Vec<String> = counts.collect();
    writeln!(out, "\n{} in {:.2}s", counts.join(", "), report.duration.as_secs_f64())?;
    for finding in report.findings.iter().filter(|finding| !finding.state.keeps_its_promise()) {
        advise(finding.wall, finding.state, out)?;
    }
    Ok(())
}

fn advise(wall: Wall, state: State, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let what = match state {
        State::Broken => "should have held",
        State::Unknown => "is not known to hold",
        State::Held | State::Open => "holds",
    };
    let text = format!("{} {what}: {}", wall.name(), wall.row().stops);
    writeln!(out)?;
    for (index, line) in wrap(&text, WIDTH - 2).into_iter().enumerate() {
        writeln!(out, "{}{line}", if index == 0 { "" } else { "  " })?;
    }
    Ok(())
}

fn style(state: State) -> Style {
    let colour = match state {
        State::Held => AnsiColor::Green,
        State::Broken => AnsiColor::Red,
        State::Open | State::Unknown => AnsiColor::Yellow,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}
