//! SECURITY.md tells the truth: the tests and the walls that it names exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use docker_agent_sandbox::walls;

const PAGE: &str = include_str!("../SECURITY.md");

/// The functions under a directory that are marked as tests.
fn tests_under(dir: &Path, tests: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).expect("a directory of sources") {
        let path = entry.expect("a readable directory").path();
        if path.is_dir() {
            tests_under(&path, tests);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let functions = text.split("#[test]").skip(1).filter_map(|after| {
                let name = after.split_once("fn ")?.1;
                Some(name[..name.find('(')?].to_owned())
            });
            tests.extend(functions);
        }
    }
}

/// The part of the page under this heading.
fn section(heading: &str) -> &'static str {
    let (_, after) = PAGE.split_once(&format!("\n## {heading}\n")).expect("its heading");
    after.split("\n## ").next().unwrap_or(after)
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_test_that_it_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = BTreeSet::new();
    for dir in ["src", "tests"] {
        tests_under(&root.join(dir), &mut tests);
    }
    let named = quoted(section("The promises, and what holds them"));
    let names: Vec<&str> = named.filter(|word| word.contains('_')).collect();
    let missing: Vec<&&str> = names.iter().filter(|name| !tests.contains(**name)).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}

#[test]
fn each_of_the_ten_promises_has_its_tests() {
    let mut promises: Vec<&str> =
        section("The promises, and what holds them").split(". **").skip(1).collect();
    assert_eq!(promises.len(), 10);
    promises.retain(|promise| quoted(promise).filter(|word| word.contains('_')).count() < 2);
    assert!(promises.is_empty(), "{promises:?}");
}

#[test]
fn every_wall_is_in_its_table_and_no_other() {
    let rows = section("What each wall stops").lines().filter(|line| line.starts_with("| "));
    let named: BTreeSet<&str> =
        rows.skip(1).filter_map(|row| row.rsplit('|').nth(1)).flat_map(quoted).collect();
    let walls: BTreeSet<&str> = walls::WALLS.iter().map(|wall| wall.name).collect();
    assert_eq!(named, walls);
}
