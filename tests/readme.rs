//! The README tells the truth: each command in it is run and its output compared, and its tables
//! are those of the code.
//!
//! A block of `console` is a session of a shell. `console docker` needs a daemon. What differs from
//! run to run is redacted on both sides; a line of `...` stands for any lines.

mod blocks;
mod picture;
mod tables;

use std::fs;
use std::path::Path;

use blocks::{Block, Kind};

use crate::support::{Cli, Language, Place, Real, StandIn};

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("a README")
}

/// Runs every session of a kind, each in a fresh directory with the examples in it.
#[track_caller]
fn sessions_are_true(kind: Kind, place: &dyn Place, policy: Option<&str>) {
    let readme = readme();
    let blocks: Vec<Block> = blocks::of(&readme).filter(|block| block.kind == kind).collect();
    assert!(!blocks.is_empty(), "the README has no such session");
    for block in blocks {
        let dir = tempfile::tempdir_in(place.home()).expect("a writable directory");
        copy_examples(&dir.path().join("examples"));
        let das = Path::new(env!("CARGO_BIN_EXE_das")).parent().expect("a directory");
        let path = place.environment().into_iter().find(|(name, _)| name == "PATH");
        let path = path.expect("programs to run").1;
        let mut shell = Cli::program(place, Path::new("/bin/sh"))
            .env("PATH", format!("{}:{path}", das.display()))
            .current_dir(dir.path())
            .args(["-c", &block.script()]);
        if let Some(policy) = policy {
            shell = shell.env("DAS_POLICY", policy);
        }
        let printed = shell.output().stdout_text();
        block.compare(&printed);
    }
}

/// The images of these tests, in the policy of an example too: no registry is needed.
fn copy_examples(to: &Path) {
    fs::create_dir(to).expect("a fresh directory");
    for file in fs::read_dir(root().join("examples")).expect("the examples") {
        let file = file.expect("a readable directory").path();
        if file.is_file() {
            fs::copy(&file, to.join(file.file_name().expect("a name"))).expect("a copy");
        }
    }
    let strict = to.join("strict-policy.json");
    let text = fs::read_to_string(&strict).expect("the strict policy");
    let shown = text.trim_end().strip_suffix('}').expect("an object").trim_end();
    let images = &Language::policy()["images"];
    fs::write(&strict, format!("{shown},\n  \"images\": {images}\n}}\n")).expect("a copy");
}

#[test]
fn every_session_that_needs_no_docker_is_true() {
    sessions_are_true(Kind::Plain, &StandIn::new(), None);
}

#[test]
#[ignore = "needs Docker: every session of the README"]
fn every_session_with_docker_is_true() {
    let real = Real::new();
    sessions_are_true(Kind::Docker, &real, Some(&real.policy()));
}

#[test]
fn the_two_commands_are_those_that_ci_runs() {
    let readme = readme();
    let two: Vec<&str> = blocks::fenced(&readme)
        .find(|(info, _)| *info == "sh")
        .map(|(_, text)| text.lines().filter(|line| line.starts_with("cargo ")).collect())
        .expect("a block of shell");
    assert_eq!(two.len(), 2, "{two:?}");
    let ci = fs::read_to_string(root().join(".ci/run")).expect("the script of CI");
    for command in two {
        let command = command.split(" #").next().unwrap_or(command).trim();
        assert!(ci.lines().any(|line| line.trim() == command), "CI does not run `{command}`");
    }
}

#[test]
fn every_file_that_the_readme_points_to_is_there() {
    let readme = readme();
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = links.filter(|link| !link.contains("://") && !link.starts_with('#'));
    for file in files {
        assert!(root().join(file).exists(), "no `{file}`");
    }
}
