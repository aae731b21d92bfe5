//! `das run` of many programs, on the stand-in.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Das, Place as _, Scenario, StandIn};

fn programs() -> Scenario {
    let program = Scenario::program;
    program().acts_on_code(&[
        ("hello", program().prints("hello\n").exits(0)),
        ("fail", program().prints("half\n").prints_to_stderr("boom\n").exits(3)),
        ("worse", program().exits(9)),
        ("escape", program().prints("\u{1b}[2J<&>\n").exits(1)),
        ("hold", program().marks("holding").runs_until_killed()),
        ("meet", program().marks("met").runs_until_killed()),
    ])
}

/// A stand-in whose home has these programs.
fn with_files(files: &[(&str, &str)]) -> StandIn {
    let stand_in = StandIn::playing(programs());
    for (name, code) in files {
        let path = stand_in.home().join(name);
        fs::create_dir_all(path.parent().expect("it is in the home")).expect("a fresh home");
        fs::write(path, code).expect("a writable directory");
    }
    stand_in
}

#[test]
fn each_has_a_line_failures_have_their_output_and_the_worst_code_counts() {
    let stand_in = with_files(&[("a.py", "hello"), ("b.js", "fail"), ("c.sh", "hello")]);
    Das::new(&stand_in)
        .args(["run", "a.py", "b.js", "c.sh", "--jobs", "1"])
        .stdout(
            "success: a.py in 0.1s\n\
             error (exit code 3): b.js in 0.1s\n  \
             stdout: half\n  \
             stderr: boom\n\
             success: c.sh in 0.1s\n\
             3 runs: 2 success, 1 error in 0.1s\n",
        )
        .status(3);
    assert_eq!(stand_in.runs().len(), 3);
}

#[test]
fn a_directory_stands_for_its_programs_in_order() {
    let stand_in = with_files(&[
        ("tests/b.py", "hello"),
        ("tests/a.js", "hello"),
        ("tests/.hidden.py", "fail"),
        ("tests/notes.txt", "fail"),
        ("tests/deeper/c.py", "fail"),
    ]);
    Das::new(&stand_in)
        .args(["run", "tests", "-j1"])
        .stdout(
            "success: tests/a.js in 0.1s\nsuccess: tests/b.py in 0.1s\n2 runs: 2 success in 0.1s\n",
        )
        .status(0);
}

#[test]
fn json_is_one_line_for_each_with_its_file() {
    let stand_in = with_files(&[("a.py", "hello"), ("b.py", "fail"), ("c.py", "nul\0")]);
    let finished = Das::new(&stand_in)
        .args(["run", "--json", "--jobs", "1", "a.py", "b.py", "c.py", "missing.py"])
        .output();
    let text = finished.stdout_text();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts: Vec<_> = lines.iter().map(|line| (&line["file"], &line["verdict"])).collect();
    assert_eq!(
        verdicts,
        [
            (&json!("a.py"), &json!("success")),
            (&json!("b.py"), &json!("error")),
            (&json!("c.py"), &Value::Null),
            (&json!("missing.py"), &Value::Null),
        ]
    );
    assert_eq!((&lines[1]["stderr"], &lines[1]["exit_code"]), (&json!("boom\n"), &json!(3)));
    assert!(lines[2]["error"].as_str().unwrap().contains("NUL"), "{text}");
    assert!(lines[3]["error"].as_str().unwrap().contains("cannot read `missing.py`"), "{text}");
    assert_eq!(finished.code(), Some(2), "what was not run is worse than what failed");
    assert_eq!(stand_in.runs().len(), 2);
}

#[test]
fn among_failures_the_highest_code_counts_and_a_timeout_is_worse() {
    let stand_in = with_files(&[("a.py", "worse"), ("b.py", "fail"), ("c.py", "hold")]);
    let run = |files: &[&str]| {
        let das = Das::new(&stand_in).args(["run", "--timeout", "1"]);
        das.args(files.iter().copied()).output().code()
    };
    assert_eq!(run(&["a.py", "b.py"]), Some(9));
    assert_eq!(run(&["a.py", "c.py", "b.py"]), Some(124));
}

#[test]
fn they_run_side_by_side_up_to_the_number_of_jobs() {
    let stand_in = with_files(&[("a.py", "hold"), ("b.py", "meet"), ("c.py", "hello")]);
    let das = Das::new(&stand_in).args(["run", "a.py", "b.py", "c.py", "--jobs", "2"]).spawn();
    stand_in.wait_for_mark("holding");
    stand_in.wait_for_mark("met");
    assert_eq!(stand_in.runs().len(), 2, "the third waits for its turn");
    das.send_signal(Signal::TERM);
    assert_eq!(das.wait().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn a_signal_stops_all_starts_no_more_and_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let stand_in = with_files(&[("a.py", "hold"), ("b.py", "meet"), ("c.py", "hello")]);
        let das = Das::new(&stand_in).args(["run", "a.py", "b.py", "c.py", "-j", "2"]).spawn();
        stand_in.wait_for_mark("holding");
        stand_in.wait_for_mark("met");
        das.send_signal(signal);
        let finished = das.wait();
        assert_eq!(finished.signal(), Some(signal.as_raw()));
        assert!(stand_in.containers_left().is_empty(), "das ended before its containers did");
        assert_eq!(stand_in.runs().len(), 2);
        assert!(finished.stdout_text().contains("cancelled: c.py"), "{}", finished.stdout_text());
        stand_in.wait_until_no_process_is_left();
    }
}

#[test]
fn a_das_that_is_killed_leaves_nothing() {
    let stand_in = with_files(&[("a.py", "hold"), ("b.py", "meet")]);
    let mut das = Das::new(&stand_in).args(["run", "a.py", "b.py", "-j", "2"]).spawn();
    stand_in.wait_for_mark("holding");
    stand_in.wait_for_mark("met");
    das.send_signal_to_group(Signal::KILL);
    das.wait_for_exit();
    stand_in.wait_until_empty();
    stand_in.wait_until_no_process_is_left();
}

#[test]
fn junit_tells_passed_failed_and_not_run_apart_and_takes_any_output() {
    let stand_in = with_files(&[("a.py", "hello"), ("b<.py", "escape"), ("c.py", "nul\0")]);
    let finished = Das::new(&stand_in)
        .args(["run", "a.py", "b<.py", "c.py", "-j1", "--junit", "report.xml"])
        .output();
    assert_eq!(finished.code(), Some(2));
    let xml = fs::read_to_string(stand_in.home().join("report.xml")).unwrap();
    for part in [
        r#"tests="3" failures="1" errors="1" skipped="0""#,
        r#"<testcase classname="python" name="a.py""#,
        r#"<testcase classname="python" name="b&lt;.py""#,
        r#"<failure type="error" message="error (exit code 1)">"#,
        "<system-out>\\x1b[2J&lt;&amp;&gt;&#10;</system-out>",
        r#"<error type="not_run" message="nothing was run: "#,
    ] {
        assert!(xml.contains(part), "{part} is not in\n{xml}");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_runs() {
    let stand_in = with_files(&[("a.py", "hello")]);
    Das::new(&stand_in)
        .args(["run", "a.py", "--junit", "none/report.xml"])
        .stderr(
            "error: cannot write `none/report.xml`\n  caused by: No such file or directory (os error 2)\n",
        )
        .status(125);
    assert!(stand_in.runs().is_empty());
}

#[test]
fn quiet_tells_of_failures_alone() {
    let stand_in = with_files(&[("a.py", "hello"), ("b.py", "worse")]);
    Das::new(&stand_in)
        .args(["run", "a.py", "b.py", "-q", "-j1"])
        .stdout("error (exit code 9): b.py in 0.1s\n")
        .status(9);
}

#[test]
fn standard_input_is_not_one_of_several() {
    let stand_in = with_files(&[("a.py", "hello")]);
    Das::new(&stand_in)
        .args(["run", "a.py", "-"])
        .stderr("error: `-` cannot be one of several programs\n")
        .status(2);
}

#[test]
fn one_file_is_run_as_ever() {
    let stand_in = with_files(&[("a.py", "hello")]);
    Das::new(&stand_in)
        .args(["run", "a.py", "--jobs", "4"])
        .stdout("hello\n")
        .stderr("[sandbox] success in 0.1s\n")
        .status(0);
}

#[test]
fn a_language_that_is_named_holds_for_all_files() {
    let stand_in = with_files(&[("a.py", "hello"), ("b", "hello")]);
    let finished = Das::new(&stand_in).args(["run", "a.py", "b", "-l", "node", "-j1"]).output();
    assert_eq!(finished.code(), Some(0));
    assert!(stand_in.runs().iter().all(|run| run.argv.contains(&"node".to_owned())));
}

#[test]
fn each_run_is_recorded() {
    let stand_in = with_files(&[("a.py", "hello"), ("b.py", "fail")]);
    Das::new(&stand_in).args(["run", "a.py", "b.py", "--audit-log", "audit.jsonl"]).output();
    let log = fs::read_to_string(stand_in.home().join("audit.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 2);
}
