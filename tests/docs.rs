//! `docs/walls.md` tells the truth: its reports are what `das verify` prints on each engine.
//!
//! `DAS_UPDATE_DOCS=1 cargo test -- --ignored the_walls_page` writes them anew. What differs from
//! run to run is redacted where they are compared.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use docker_agent_sandbox::seccomp;
use docker_agent_sandbox::walls::WALLS;

use crate::podman;
use crate::runsc;
use crate::support::{Cli, Finished, Language, Real};

/// One report is written at a time.
static PAGE: Mutex<()> = Mutex::new(());

/// Ends the place of a report.
const END: &str = "<!-- end of the report -->\n";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/walls.md")
}

fn page() -> String {
    fs::read_to_string(path()).expect("a page")
}

/// What stands before a report, the report, and what stands behind it.
fn around<'a>(page: &'a str, place: &str) -> (&'a str, &'a str, &'a str) {
    let begin = format!("<!-- report: {place} -->\n");
    let at = page.find(&begin).unwrap_or_else(|| panic!("no place for {place}")) + begin.len();
    let (report, after) = page[at..].split_once(END).expect("the end of a report");
    (&page[..at], report, after)
}

/// Compares the report of an engine with what `das verify` prints, or writes it.
#[track_caller]
fn tells(place: &str, args: &[&str], verify: Cli<'_>) {
    let finished = verify.arg("verify").args(args.iter().copied()).output();
    assert_eq!(finished.code(), Some(0), "{finished:?}");
    let report = report(args, &finished);
    let _one = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    if env::var_os("DAS_UPDATE_DOCS").is_some() {
        let page = page();
        let (before, _, after) = around(&page, place);
        fs::write(path(), format!("{before}{report}{END}{after}")).expect("a writable page");
    }
    assert_eq!(comparable(around(&page(), place).1), comparable(&report));
}

fn report(args: &[&str], finished: &Finished) -> String {
    let command = [&["das", "verify"], args].concat().join(" ");
    format!("```text\n$ {command}\n{}```\n", finished.stdout_text())
}

/// The walls, each with its state and its evidence on one line and without numbers: lines break
/// where numbers let them.
fn comparable(report: &str) -> Vec<String> {
    let mut walls: Vec<String> = Vec::new();
    for line in report.lines() {
        let is_wall = WALLS.iter().any(|row| line.starts_with(&format!("{:<15}", row.name)));
        match walls.last_mut() {
            _ if is_wall => walls.push(line.to_owned()),
            Some(wall) if line.starts_with("    ") => {
                wall.push(' ');
                wall.push_str(line.trim());
            }
            Some(_) | None => {}
        }
    }
    walls.iter().map(|wall| without_numbers(wall)).collect()
}

fn without_numbers(text: &str) -> String {
    let mut parts = text.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + if part == "." { "" } else { "[N]" } + part)
}

#[test]
#[ignore = "needs Docker: the walls on Docker, as the documentation has them"]
fn the_walls_page_has_dockers_report() {
    let real = Real::new();
    tells("docker", &[], real.das());
}

#[test]
#[ignore = "needs Docker: a second daemon with gVisor, as the documentation has it"]
fn the_walls_page_has_gvisors_report() {
    let daemon = runsc::daemon();
    daemon.load(&Language::Python.image());
    tells("gvisor", &["--runtime", "runsc", "--pids", "128"], daemon.das());
}

#[test]
#[ignore = "needs podman: the walls on podman, as the documentation has them"]
fn the_walls_page_has_podmans_report() {
    let real = Real::new();
    let policy = real.write("podman.json", &podman::policy(Language::Python));
    tells("podman", &["--engine", "podman"], Cli::new(&real).env("DAS_POLICY", policy));
}

#[test]
fn every_report_of_the_page_has_every_wall_and_none_is_broken() {
    let page = page();
    for place in ["docker", "gvisor", "podman"] {
        let walls = comparable(around(&page, place).1);
        let names: Vec<&str> =
            walls.iter().filter_map(|wall| wall.split_whitespace().next()).collect();
        assert_eq!(names, docker_agent_sandbox::walls::names(), "{place}");
        assert!(walls.iter().all(|wall| wall[15..].starts_with("HELD ")), "{walls:#?}");
    }
}

#[test]
fn the_page_and_the_readme_count_the_calls_of_the_strict_filter_as_the_code_does() {
    // `clone` and `socket` have rules of their own; x86_64 lacks one of the others.
    let calls = seccomp::ALLOWED.iter().map(|names| names.len()).sum::<usize>() + 2 - 1;
    let readme = fs::read_to_string(path().with_file_name("../README.md")).expect("a README");
    for text in [page(), readme] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("allows {calls} of them on x86_64")), "{text}");
    }
}

#[test]
fn numbers_and_the_breaks_of_lines_are_no_difference() {
    let one = "cpu            HELD     a quota of 0.50 processors; busy, it got 0.19, throttled\n\
               \x20                       0 times\n";
    let two = "cpu            HELD     a quota of 0.50 processors; busy, it got 0.5, throttled 11\n\
               \x20                       times\n\n18 held in 3.96s\n";
    assert_eq!(comparable(one), comparable(two));
    assert_ne!(comparable(one), comparable(&two.replace("HELD  ", "BROKEN")));
    assert_ne!(comparable(one), comparable(&two.replace("throttled 11", "throttled some")));
}
