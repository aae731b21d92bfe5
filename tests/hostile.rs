//! Programs that attack, each in a file of its own that says how it must end, and the same ones
//! at random while das, its client and its containers are killed.
//!
//! `cargo test -- --ignored hostile` runs them. Each can be run by hand, too:
//! `das run tests/hostile/programs/processes/fork_bomb.py --timeout 2`.

mod chance;
mod program;
mod random;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde_json::json;

use crate::support::Real;
use program::{End, Program};

/// How many run side by side: more would only wait for a processor.
const AT_ONCE: usize = 3;

const FOLDERS: [&str; 8] =
    ["files", "input", "memory", "network", "output", "processes", "time", "verdicts"];

/// Runs every program of a folder and compares how it ended.
#[track_caller]
fn all_end_as_they_say(folder: &str) {
    let waiting = Mutex::new(Program::all_of(folder));
    let objections = Mutex::new(Vec::new());
    thread::scope(|threads| {
        for _ in 0..AT_ONCE {
            threads.spawn(|| {
                while let Some(program) = next(&waiting) {
                    let objection = run(&program).map(|it| format!("{}: {it}", program.name()));
                    objections.lock().unwrap_or_else(PoisonError::into_inner).extend(objection);
                }
            });
        }
    });
    let objections = objections.into_inner().unwrap();
    assert!(objections.is_empty(), "{}", objections.join("\n"));
}

fn next(waiting: &Mutex<Vec<Program>>) -> Option<Program> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

/// What is wrong with the end of a program, if anything is. Its container is gone by then.
fn run(program: &Program) -> Option<String> {
    let real = Real::new();
    let das = real.das().args(["run", "--json", program.path()]).args(program.flags.clone());
    let finished = das.output();
    let Some(outcome) = program::outcome(&finished.stdout) else {
        return Some(format!("das printed no object: {finished:?}"));
    };
    real.wait_until_gone(&format!("das-{}", outcome["run_id"].as_str().unwrap_or_default()));
    program.objection(&outcome).or_else(|| program::objection_to_exit(&outcome, &finished))
}

#[test]
#[ignore = "needs Docker: programs that attack files and devices"]
fn attacks_on_files_end_as_they_should() {
    all_end_as_they_say("files");
}

#[test]
#[ignore = "needs Docker: programs that are odd to read"]
fn programs_that_are_odd_to_read_end_as_they_should() {
    all_end_as_they_say("input");
}

#[test]
#[ignore = "needs Docker: programs that take memory in every way"]
fn attacks_on_memory_end_as_they_should() {
    all_end_as_they_say("memory");
}

#[test]
#[ignore = "needs Docker: programs that look for a network"]
fn attacks_on_the_network_end_as_they_should() {
    all_end_as_they_say("network");
}

#[test]
#[ignore = "needs Docker: programs that flood, and print what no reader expects"]
fn attacks_by_output_end_as_they_should() {
    all_end_as_they_say("output");
}

#[test]
#[ignore = "needs Docker: programs that multiply, kill and refuse to die"]
fn attacks_by_processes_end_as_they_should() {
    all_end_as_they_say("processes");
}

#[test]
#[ignore = "needs Docker: programs that waste time"]
fn attacks_on_time_end_as_they_should() {
    all_end_as_they_say("time");
}

#[test]
#[ignore = "needs Docker: programs that imitate das, Docker and the kernel"]
fn attacks_on_the_verdict_end_as_they_should() {
    all_end_as_they_say("verdicts");
}

#[test]
#[ignore = "needs Docker: every exit code there is"]
fn all_exit_codes_are_the_programs_own() {
    let codes: Vec<u8> = (0..=255).collect();
    for codes in codes.chunks(32) {
        let real = Real::new();
        let files =
            codes.iter().map(|code| real.write(&format!("{code:03}.sh"), &format!("exit {code}")));
        let das = real.das().args(["run", "--json", "--jobs", "4"]).args(files);
        let text = das.output().stdout_text();
        let mut ends: Vec<(String, End)> = text
            .lines()
            .map(|line| program::outcome(line.as_bytes()).expect("an object"))
            .map(|outcome| (outcome["file"].as_str().unwrap().to_owned(), End::of(&outcome)))
            .collect();
        ends.sort_by(|one, other| one.0.cmp(&other.0));
        let found: Vec<End> = ends.into_iter().map(|(_, end)| end).collect();
        let expected: Vec<End> = codes.iter().map(|&code| End::of_exit(code)).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn there_are_more_than_sixty_programs_and_a_test_for_each_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/programs");
    let mut folders: Vec<String> = root
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(folders, FOLDERS);
    let programs: Vec<Program> = FOLDERS.into_iter().flat_map(Program::all_of).collect();
    assert!(programs.len() > 60, "{}", programs.len());
    let own_test = include_str!("hostile.rs");
    for folder in FOLDERS {
        assert!(own_test.contains(&format!("all_end_as_they_say(\"{folder}\")")), "{folder}");
    }
}

#[test]
fn an_end_that_a_program_does_not_name_is_objected_to() {
    let text = "# flags: --timeout 2\n# ends: error 3 or timeout\n# prints: on\nraise";
    let program = Program::parse("a/b.py", text);
    let outcome = |verdict: &str, code: Option<u8>, stdout: &str| json!({"verdict": verdict, "exit_code": code, "stdout": stdout, "truncated": false});
    assert_eq!(program.flags, ["--timeout", "2"]);
    assert_eq!(program.objection(&outcome("error", Some(3), "x\non\n")), None);
    assert_eq!(program.objection(&outcome("timeout", None, "on\n")), None);
    for wrong in [
        outcome("error", Some(4), "on\n"),
        outcome("success", Some(0), "on\n"),
        outcome("error", Some(3), "on\noff\n"),
    ] {
        assert!(program.objection(&wrong).is_some(), "{wrong}");
    }
}
