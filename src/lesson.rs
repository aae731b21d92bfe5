//! The command line as a lesson: above each flag what it does and how to see it, and wall by wall
//! what a plain `docker run` would have allowed.
//!
//! Pure renderers of 80 columns.

use std::io::{self, Write};

use anstyle::Style;

use crate::plan::argv::{Argv, Line, shell};
use crate::sanitize;
use crate::walls::opened::Change;
use crate::walls::{Row, WALLS, Wall};
use crate::wrap::wrap;

/// The width of a line.
const WIDTH: usize = 80;

/// Whether the comments are told from the command by colour. The words of the command are never
/// changed: nothing filters them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// For a terminal.
    On,
    /// For anything else.
    Off,
}

impl Colour {
    fn of(self, style: Style) -> Style {
        match self {
            Self::On => style,
            Self::Off => Style::new(),
        }
    }
}

/// Where the second column begins.
const INDENT: usize = 15;

/// Writes the same command with a comment above each flag. It can still be pasted into a shell:
/// a command substitution that is only a comment is no word.
pub fn why(argv: &Argv, colour: Colour, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} \\", folded(&argv.beginning()))?;
    let mut said = None;
    for line in argv.lines() {
        let lesson = (line.wall, does(line));
        // Flags that do the same stand below one comment.
        if said != Some(lesson) {
            comment(&told(lesson.1, line.wall, WIDTH - 8), colour, out)?;
            said = Some(lesson);
        }
        writeln!(out, "  {} \\", shell(&line.words))?;
    }
    writeln!(out, "  {}", argv.end())?;
    writeln!(out, "#\n# What no flag does, das does itself:")?;
    for row in &WALLS {
        mechanism(row, out)?;
    }
    Ok(())
}

/// The words of the first line, on as many lines as it takes.
fn folded(words: &[String]) -> String {
    let mut text = String::new();
    let mut length = 0;
    for word in words {
        let size = word.chars().count() + 1;
        if length > 0 && length + size > WIDTH - 4 {
            text.push_str(" \\\n  ");
            length = 2;
        } else if length > 0 {
            text.push(' ');
        }
        text.push_str(word);
        length += size;
    }
    text
}

fn does(line: &Line) -> &'static str {
    line.wall.flag(&line.words).map_or(line.wall.row().stops, |flag| flag.does)
}

/// What something does, and how to see it: on one line, or the command on a line of its own.
fn told(does: &str, wall: Wall, width: usize) -> Vec<String> {
    let see = format!("das verify --only {}", wall.name());
    let line = format!("{does}: {see}");
    if line.chars().count() <= width {
        return vec![line];
    }
    let mut lines = wrap(&format!("{does}:"), width);
    lines.push(see);
    lines
}

fn comment(lines: &[String], colour: Colour, out: &mut impl Write) -> io::Result<()> {
    let dim = colour.of(Style::new().dimmed());
    for (index, text) in lines.iter().enumerate() {
        let begin = if index == 0 { "  `# " } else { "   # " };
        let (end, next) = if index + 1 == lines.len() { ("`", " \\") } else { ("", "") };
        writeln!(out, "{dim}{begin}{text}{end}{dim:#}{next}")?;
    }
    Ok(())
}

fn mechanism(row: &Row, out: &mut impl Write) -> io::Result<()> {
    let Some(mechanism) = row.mechanism else { return Ok(()) };
    for (index, line) in told(&format!("it {mechanism}"), row.wall, WIDTH - 4).iter().enumerate() {
        writeln!(out, "# {} {line}", if index == 0 { "-" } else { " " })?;
    }
    Ok(())
}

/// Writes what plain `docker run -i IMAGE` lets a program do instead, and what a policy opens.
pub fn diff(
    image: &str,
    changes: &[Change],
    colour: Colour,
    out: &mut impl Write,
) -> io::Result<()> {
    let bold = colour.of(Style::new().bold());
    let image = sanitize::escape(image);
    writeln!(out, "{bold}Under plain `docker run -i {image}` a program could{bold:#}\n")?;
    for row in &WALLS {
        columns(row.name, row.plain, out)?;
    }
    writeln!(out, "\n{bold}This policy, compared with the defaults{bold:#}\n")?;
    if changes.is_empty() {
        return writeln!(out, "nothing: it is the defaults");
    }
    for change in changes {
        columns(change.wall.name(), &format!("{} {}", change.direction.name(), change.text), out)?;
    }
    Ok(())
}

fn columns(name: &str, text: &str, out: &mut impl Write) -> io::Result<()> {
    for (index, line) in wrap(text, WIDTH - INDENT).iter().enumerate() {
        let name = if index == 0 { name } else { "" };
        writeln!(out, "{name:<INDENT$}{line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::engine::command::{CommandLine, EnvChanges};
    use crate::engine::{ClientProxies, EngineKind, Facts};
    use crate::plan::CheckedPolicy;
    use crate::policy::SandboxPolicy;
    use crate::tag::{Owner, RunTag};

    fn argv(json: &str, language: &str) -> Argv {
        let policy = SandboxPolicy::from_json(json).unwrap();
        let plan = CheckedPolicy::new(policy).unwrap().plan(language).unwrap();
        let facts = Facts {
            kind: EngineKind::Docker,
            program: "docker".to_owned(),
            env: EnvChanges::default(),
            client_proxies: ClientProxies::Configured,
            most_processes: None,
        };
        Argv::new(&facts, &plan, &RunTag::new(&Owner::Nobody, Duration::ZERO))
    }

    /// A policy whose words a shell would take apart if it could.
    const HOSTILE: &str = r##"{"env": {"A": "`id`; $(id) 'x' \"y\"", "B": "# no comment\\"}}"##;

    #[test]
    fn the_annotated_command_is_the_same_command_when_it_is_pasted() {
        for language in ["python", "node", "shell"] {
            let argv = argv(HOSTILE, language);
            let mut text = b"docker() { printf '%s\\0' docker \"$@\"; }\nenv() { while [ \"$1\" = -u ]; do shift 2; done; \"$@\"; }\n".to_vec();
            why(&argv, Colour::Off, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let ran = CommandLine::new("sh", ["-c", &text]).run(Duration::from_secs(20)).unwrap();
            assert_eq!(ran.err(), "");
            let said = String::from_utf8(ran.stdout).unwrap();
            let words: Vec<&str> = said.split_terminator('\0').collect();
            assert_eq!(words, argv.words().collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_lesson_fits_80_columns() {
        let mut text = Vec::new();
        why(&argv("{}", "python"), Colour::Off, &mut text).unwrap();
        diff("python:3.12-slim", &[], Colour::Off, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > WIDTH).collect();
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn every_flag_says_what_it_does_and_how_to_see_it() {
        let argv = argv("{}", "python");
        let mut text = Vec::new();
        why(&argv, Colour::Off, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for line in argv.lines() {
            assert!(text.contains(does(line)), "{line:?}");
            assert!(text.contains(&format!("das verify --only {}", line.wall)), "{line:?}");
        }
    }
}
