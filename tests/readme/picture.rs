//! The picture at the top of the README is one of a real run.
//!
//! `DAS_DRAW=1 cargo test -- --ignored the_picture` draws it anew.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use super::root;
use crate::support::{Cli, Real, redact};

const COMMAND: &str = "das run examples/escape_attempts.py";

const LINE_HEIGHT: usize = 19;
const TOP: usize = 62;

fn path() -> PathBuf {
    root().join("examples/escape_attempts.svg")
}

/// A terminal with this command and its output.
fn draw(output: &str) -> String {
    let mut lines = format!("<tspan class=\"dim\">$</tspan> {COMMAND}");
    let mut text = String::new();
    for (number, line) in std::iter::once("").chain(output.lines()).enumerate() {
        let y = TOP + number * LINE_HEIGHT;
        let content = if number == 0 { std::mem::take(&mut lines) } else { colour(line) };
        writeln!(text, "<text x=\"20\" y=\"{y}\">{content}</text>").expect("a growing text");
    }
    let height = TOP + (output.lines().count() + 1) * LINE_HEIGHT;
    SVG.replace("HEIGHT", &height.to_string()).replace("TEXT", &text)
}

const SVG: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 HEIGHT" width="780" height="HEIGHT" xml:space="preserve" role="img" aria-label="das run: every attempt to break out is blocked">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d0d7de; }
.ok { fill: #3fb950; font-weight: bold; }
.bad { fill: #f85149; font-weight: bold; }
.dim { fill: #8b949e; }
</style>
<rect width="780" height="HEIGHT" rx="8" fill="#0d1117"/>
<circle cx="24" cy="22" r="6" fill="#f85149"/><circle cx="44" cy="22" r="6" fill="#d29922"/><circle cx="64" cy="22" r="6" fill="#3fb950"/>
TEXT</svg>
"##;

/// As a terminal shows it.
fn colour(line: &str) -> String {
    let escaped = line.replace('&', "&amp;").replace('<', "&lt;");
    for (mark, class) in [("BLOCKED", "ok"), ("OK", "bad")] {
        let word = format!("[{mark:8}]");
        if let Some(rest) = escaped.strip_prefix(&word) {
            return format!("[<tspan class=\"{class}\">{mark:8}</tspan>]{rest}");
        }
    }
    match escaped.strip_prefix("[sandbox] success") {
        Some(rest) => format!(
            "<tspan class=\"dim\">[sandbox]</tspan> <tspan class=\"ok\">success</tspan>{rest}"
        ),
        None => escaped,
    }
}

/// Line by line, up to the reasons: kernels and images differ in theirs.
fn names(picture: &str) -> Vec<String> {
    redact(picture).lines().filter_map(|line| line.split("   ").next().map(str::to_owned)).collect()
}

#[test]
#[ignore = "needs Docker: the picture of the README"]
fn the_picture_is_one_of_a_real_run() {
    let real = Real::new();
    let script =
        format!("exec 2>&1\n'{}' run examples/escape_attempts.py", env!("CARGO_BIN_EXE_das"));
    let shell = Cli::program(&real, std::path::Path::new("/bin/sh"));
    let shell = shell.current_dir(root()).env("DAS_POLICY", real.policy()).args(["-c", &script]);
    let finished = shell.output();
    assert_eq!(finished.code(), Some(0), "{}", finished.stdout_text());
    let picture = draw(&finished.stdout_text());
    if env::var_os("DAS_DRAW").is_some() {
        fs::write(path(), &picture).expect("a writable picture");
    }
    let drawn = fs::read_to_string(path()).expect("a picture");
    assert_eq!(names(&drawn), names(&picture));
}

#[test]
fn the_picture_shows_every_attempt_of_the_example() {
    let drawn = fs::read_to_string(path()).expect("a picture");
    let example = fs::read_to_string(root().join("examples/escape_attempts.py")).unwrap();
    let (_, list) = example.split_once("ATTEMPTS = [\n").expect("a list of attempts");
    let names = list.split("]\n").next().expect("its end").lines();
    for name in names.map(|line| line.trim().trim_end_matches(',').replace('_', " ")) {
        assert!(drawn.contains(&format!("] {name} ")), "no `{name}` in the picture");
    }
}
