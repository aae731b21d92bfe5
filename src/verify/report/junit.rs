//! The report as a JUnit file, for CI: one test case for each wall.

use std::io::{self, Write};

use super::{Finding, Report, State};

/// Writes the whole file.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let (tests, failures) = (report.findings.len(), report.count(State::Broken));
    let (errors, skipped) = (report.count(State::Unknown), report.count(State::Open));
    let seconds = report.seconds();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    let sums = format!(
        r#"tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}" time="{seconds}""#
    );
    writeln!(out, r#"<testsuites name="das verify" {sums}>"#)?;
    let subject = &report.subject;
    let name = escape(&format!("{} in {} on {}", subject.language, subject.image, subject.engine));
    writeln!(out, r#"  <testsuite name="{name}" {sums}>"#)?;
    for finding in &report.findings {
        case(finding, out)?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}

fn case(finding: &Finding, out: &mut impl Write) -> io::Result<()> {
    let name = finding.wall.name();
    let evidence = escape(&finding.evidence);
    let stops = escape(finding.wall.row().stops);
    writeln!(out, r#"    <testcase classname="das.walls" name="{name}">"#)?;
    match finding.state {
        State::Held => writeln!(out, "      <system-out>{evidence}</system-out>")?,
        State::Open => writeln!(out, r#"      <skipped message="{evidence}"/>"#)?,
        State::Broken => {
            writeln!(
                out,
                r#"      <failure type="broken" message="{evidence}">{stops}</failure>"#
            )?;
        }
        State::Unknown => {
            writeln!(out, r#"      <error type="unknown" message="{evidence}">{stops}</error>"#)?;
        }
    }
    writeln!(out, "    </testcase>")
}

/// Text in an attribute or an element. XML knows no control characters, not even escaped ones.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}
