//! The report for people: 80 columns, the grave things with their fixes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::finding::{Finding, Report, State};
use crate::sanitize::escape;

/// How wide a line may be.
const WIDTH: usize = 80;
/// Where the texts begin: after the state and the check's name.
const INDENT: usize = 25;

/// Writes the report, with ANSI colours that the caller's stream may take out again.
pub fn write_report(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for finding in report.findings.iter().filter(|finding| finding.state != State::Unknown) {
        write_finding(finding, out)?;
    }
    for (why, checks) in unknown(report) {
        write_row(State::Unknown, &checks[0], &why, out)?;
        if checks.len() > 1 {
            wrapped(&format!("so too: {}", checks[1..].join(", ")), out)?;
        }
    }
    writeln!(out)?;
    conclude(report, out)
}

/// What is unknown for one reason is told once.
fn unknown(report: &Report) -> Vec<(String, Vec<String>)> {
    let mut reasons: Vec<String> = Vec::new();
    let mut checks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Finding { check, state, found, fix: _ } in &report.findings {
        if *state == State::Unknown {
            let known = checks.entry(found).or_default();
            if known.is_empty() {
                reasons.push(found.clone());
            }
            known.push((*check).to_owned());
        }
    }
    let of = |why: String| {
        let names = checks.remove(why.as_str()).unwrap_or_default();
        (why, names)
    };
    reasons.into_iter().map(of).collect()
}

fn write_finding(finding: &Finding, out: &mut impl Write) -> io::Result<()> {
    write_row(finding.state, finding.check, &finding.found, out)?;
    match &finding.fix {
        Some(fix) => wrapped(&format!("fix: {fix}"), out),
        None => Ok(()),
    }
}

fn write_row(state: State, check: &str, text: &str, out: &mut impl Write) -> io::Result<()> {
    let style = style(state);
    let word = state.word();
    write!(out, "{style}{word:<8}{style:#} {check:<15} ")?;
    let text = escape(text);
    let mut lines = wrap(&text).into_iter();
    writeln!(out, "{}", lines.next().unwrap_or_default())?;
    lines.try_for_each(|line| writeln!(out, "{:INDENT$}{line}", ""))
}

fn wrapped(text: &str, out: &mut impl Write) -> io::Result<()> {
    wrap(&escape(text)).into_iter().try_for_each(|line| writeln!(out, "{:INDENT$}{line}", ""))
}

/// Breaks at white space; a word that is too long has a line of its own.
fn wrap(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH - INDENT => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn conclude(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let count = |state| report.findings.iter().filter(|finding| finding.state == state).count();
    let weak = match count(State::Weak) {
        0 => "no weakness".to_owned(),
        1 => "1 weakness".to_owned(),
        many => format!("{many} weaknesses"),
    };
    let unknown = match count(State::Unknown) {
        0 => String::new(),
        many => format!(", {many} unknown"),
    };
    let (state, word) =
        if report.usable { (State::Ok, "usable") } else { (State::Broken, "not usable") };
    let style = style(state);
    writeln!(out, "{style}{word}{style:#}: {weak}{unknown}")
}

fn style(state: State) -> Style {
    let colour = match state {
        State::Ok => AnsiColor::Green,
        State::Note => AnsiColor::Cyan,
        State::Weak | State::Unknown => AnsiColor::Yellow,
        State::Broken => AnsiColor::Red,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(findings: Vec<Finding>) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        write_report(&Report::new(findings), &mut out).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn the_report_fits_80_columns_and_tells_each_fix_and_a_shared_reason_once() {
        let long = "the engine runs as root and says much about it, more than one line can hold";
        let told = text(vec![
            Finding::unknown("disk", "no answer"),
            Finding::unknown("cgroups", "no answer"),
            Finding::weak("rootless", long, "run it without"),
            Finding::ok("client", "docker"),
        ]);
        assert_eq!(
            told,
            "\
ok       client          docker
weak     rootless        the engine runs as root and says much about it, more
                         than one line can hold
                         fix: run it without
unknown  cgroups         no answer
                         so too: disk

usable: 1 weakness, 2 unknown
"
        );
        assert!(told.lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn what_is_broken_makes_it_unusable_and_nothing_drives_the_terminal() {
        let told = text(vec![Finding::broken("daemon", "gone\x1b[2J", "start it")]);
        assert!(told.ends_with("\n\nnot usable: no weakness\n"), "{told}");
        assert!(!told.contains('\x1b'));
    }
}
