//! The table that people read: 80 columns, understandable without colour.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Finding, Report, State, Subject};
use crate::sanitize;
use crate::walls::Wall;

/// Where the evidence begins: after the longest names of a wall and of a state.
const INDENT: usize = 24;

/// The width of a line.
const WIDTH: usize = 80;

/// What stands above the table.
pub fn heading(subject: &Subject, out: &mut impl Write) -> io::Result<()> {
    let bold = Style::new().bold();
    let Subject { language, image, engine, runtime } = subject;
    let runtime = runtime.as_ref().map(|name| format!(", runtime {name}")).unwrap_or_default();
    let text =
        sanitize::escape(&format!("{language} in {image} on {engine}{runtime}")).into_owned();
    writeln!(out, "{text}\n")?;
    writeln!(out, "{bold}{:<15}{:<9}EVIDENCE{bold:#}", "WALL", "STATE")
}

/// One wall.
pub fn row(finding: &Finding, out: &mut impl Write) -> io::Result<()> {
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
pub fn summary(report: &Report, out: &mut impl Write) -> io::Result<()> {
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

fn advise(wall: Wall, state: State, out: &mut impl Write) -> io::Result<()> {
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

/// Breaks a text into lines of at most `width` characters, at spaces where there are any.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split(' ').flat_map(|word| pieces(word, width)) {
        let size = word.chars().count();
        if length > 0 && length + 1 + size > width {
            lines.push(String::new());
            length = 0;
        }
        if let Some(line) = lines.last_mut() {
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(&word);
        }
        length += size;
    }
    lines
}

/// A word that is longer than a line, in as many pieces as it takes.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    characters.chunks(width.max(1)).map(|chunk| chunk.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_the_width_and_no_word_is_lost() {
        let text = "one two three a-word-that-is-longer-than-any-line four";
        let lines = wrap(text, 10);
        assert!(lines.iter().all(|line| line.chars().count() <= 10), "{lines:?}");
        let joined = lines.concat().replace(' ', "");
        assert_eq!(joined, text.replace(' ', ""));
    }
}
