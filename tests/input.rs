//! Where a program comes from, which language it is in, and what is not taken for one.

use std::fs;

use crate::support::{Das, Place, Scenario, StandIn, Trigger};

const SUCCESS: &str = "[sandbox] success in [TIME]\n";

const MARK_LEFT_OUT: &str =
    "[sandbox] warning: the byte order mark at the script's beginning was left out\n";

fn echo() -> StandIn {
    StandIn::playing(Scenario::program())
}

/// `das run`, quietly.
fn run<'a>(stand_in: &'a StandIn, args: &[&str]) -> Das<'a> {
    Das::new(stand_in).args(["run", "-q"]).args(args.iter().copied())
}

/// A file in das's working directory.
fn file(stand_in: &StandIn, name: &str, text: impl AsRef<[u8]>) {
    fs::write(stand_in.home().join(name), text).unwrap();
}

/// What the interpreter got, and the end of the command line that it is in.
#[track_caller]
fn ran(stand_in: &StandIn) -> (Vec<u8>, Vec<String>) {
    let run = stand_in.runs().pop().expect("a run");
    let image = run.argv.iter().position(|word| word.contains("expires=")).expect("a label") + 1;
    (run.stdin.clone(), run.argv[image..].to_vec())
}

/// The last run was in this image.
#[track_caller]
fn ran_in(stand_in: &StandIn, image: &str) {
    assert_eq!(ran(stand_in).1[0], image);
}

#[test]
fn a_program_on_standard_input_reaches_its_interpreter_unchanged() {
    let stand_in = echo();
    run(&stand_in, &["-"]).stdin("print(1)\r\n\u{feff}\n").status(0);
    assert_eq!(ran(&stand_in).0, "print(1)\r\n\u{feff}\n".as_bytes());
    ran_in(&stand_in, "python:3.12-slim");
}

#[test]
fn a_program_that_is_no_text_is_a_program() {
    let stand_in = echo();
    run(&stand_in, &["-"]).stdin(b"# \xff\xfe\n").status(0);
    assert_eq!(ran(&stand_in).0, b"# \xff\xfe\n");
}

#[test]
fn a_files_ending_tells_its_language() {
    let stand_in = echo();
    for (name, image) in [
        ("job.py", "python:3.12-slim"),
        ("job.js", "node:22-slim"),
        ("job.MJS", "node:22-slim"),
        ("job.sh", "alpine:3.20"),
    ] {
        file(&stand_in, name, name);
        run(&stand_in, &[name]).status(0);
        assert_eq!(ran(&stand_in).0, name.as_bytes());
        ran_in(&stand_in, image);
    }
}

#[test]
fn a_first_line_tells_the_language_where_no_ending_does() {
    let stand_in = echo();
    file(&stand_in, "job", "#!/usr/bin/env node\n1\n");
    run(&stand_in, &["job"]).status(0);
    ran_in(&stand_in, "node:22-slim");
    run(&stand_in, &["-"]).stdin("#!/bin/sh\n:\n").status(0);
    ran_in(&stand_in, "alpine:3.20");
    run(&stand_in, &["-c", "#!/usr/bin/node\n1"]).status(0);
    ran_in(&stand_in, "node:22-slim");
    // A file from Windows may begin with a byte order mark.
    file(&stand_in, "mark", "\u{feff}#!/bin/sh\n:\n");
    run(&stand_in, &["mark"]).stderr(MARK_LEFT_OUT).status(0);
    ran_in(&stand_in, "alpine:3.20");
}

#[test]
fn a_named_language_wins_over_every_other_sign() {
    let stand_in = echo();
    file(&stand_in, "job.py", "#!/usr/bin/python3\n");
    run(&stand_in, &["job.py", "-l", "JS"]).status(0);
    ran_in(&stand_in, "node:22-slim");
}

#[test]
fn a_language_of_the_policy_has_its_own_endings() {
    let stand_in = echo();
    file(
        &stand_in,
        "policy.json",
        r#"{"languages": {"ruby": {"image": "ruby:3.3", "command": ["ruby", "-"], "extensions": ["rb"]}}}"#,
    );
    file(&stand_in, "job.rb", "p 1");
    run(&stand_in, &["job.rb", "--policy", "policy.json"]).status(0);
    assert_eq!(ran(&stand_in).1, ["ruby:3.3", "ruby", "-"]);
    run(&stand_in, &["-c", "p 1", "-l", "ruby", "--policy", "policy.json"]).status(0);
    ran_in(&stand_in, "ruby:3.3");
}

#[test]
fn a_file_of_an_unknown_language_is_refused_with_the_way_out() {
    let stand_in = echo();
    file(&stand_in, "job.rb", "p 1");
    run(&stand_in, &["job.rb"])
        .stderr(
            "error: cannot tell the language of `job.rb`\n\n\
             hint: name it with `-l`, such as `-l python`\n",
        )
        .status(2);
    assert!(stand_in.calls().is_empty());
}

#[test]
fn a_language_that_is_not_offered_is_refused_with_those_that_are() {
    let stand_in = echo();
    run(&stand_in, &["-c", "x", "-l", "cobol"])
        .stderr(
            "error: nothing was run\n  \
             caused by: the policy offers no language `cobol`, only python, node, shell\n\n\
             hint: the policy's `images` and `languages` say what is offered\n",
        )
        .status(2);
    assert!(stand_in.calls().is_empty());
}

#[test]
fn without_a_program_there_is_nothing_to_run() {
    let stand_in = echo();
    run(&stand_in, &[])
        .stderr(
            "error: no program to run\n\n\
             hint: name a file, or `-` for standard input, or give code with `-c`\n",
        )
        .status(2);
    let both = run(&stand_in, &["job.py", "-c", "x"]).output();
    assert!(both.stderr_text().contains("cannot be used with"), "{}", both.stderr_text());
    assert_eq!(both.code(), Some(2));
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_reason() {
    let stand_in = echo();
    run(&stand_in, &["none.py"])
        .stderr(
            "error: cannot read `none.py`\n  caused by: No such file or directory (os error 2)\n",
        )
        .status(2);
    run(&stand_in, &["."])
        .stderr(
            "error: no program is in `.`\n\nhint: programs are told by their endings, such as \
             .py, .js and .sh; what lies deeper is not looked at\n",
        )
        .status(2);
}

#[test]
fn a_nul_byte_is_refused_before_anything_runs() {
    let stand_in = echo();
    for args in [&["-"][..], &["-", "-l", "node"], &["-", "--json"]] {
        run(&stand_in, args)
            .stdin("a\0b")
            .stderr(
                "error: nothing was run\n  \
                 caused by: the code has a NUL byte at offset 1; send plain text\n",
            )
            .status(2);
    }
    assert!(stand_in.calls().is_empty());
}

#[test]
fn a_program_that_is_too_long_is_refused_before_its_end_is_read() {
    let stand_in = echo();
    file(&stand_in, "policy.json", r#"{"max_code_bytes": 10}"#);
    let args = ["-", "--policy", "policy.json"];
    run(&stand_in, &args).stdin("x".repeat(10)).status(0);
    // Its stdin stays open.
    let mut running = run(&stand_in, &args).spawn();
    running.write("x".repeat(11));
    let finished = running.wait_for_exit();
    assert_eq!(finished.code(), Some(2));
    assert_eq!(
        running.wait().stderr_text(),
        "error: nothing was run\n  \
         caused by: the code has more than 10 bytes, the policy's `max_code_bytes`\n\n\
         hint: the policy file may allow more, up to 67108864\n"
    );
    assert_eq!(stand_in.runs().len(), 1);
}

#[test]
fn an_empty_program_is_a_program() {
    let stand_in = echo();
    Das::new(&stand_in).args(["run", "-"]).stderr(SUCCESS).status(0);
    assert_eq!(ran(&stand_in).0, b"");
}

#[test]
fn a_windows_script_is_read_as_its_author_meant_it() {
    let stand_in = echo();
    let warning = "[sandbox] warning: Windows line ends (CRLF) in the script were read as LF\n";
    run(&stand_in, &["-", "-l", "sh"]).stdin("a\r\nb\r\n").stderr(warning).status(0);
    assert_eq!(ran(&stand_in).0, b"a\nb\n");
    run(&stand_in, &["-", "-l", "sh"]).stdin("\u{feff}a\n").stderr(MARK_LEFT_OUT).status(0);
    assert_eq!(ran(&stand_in).0, b"a\n");
}

#[test]
fn ten_megabytes_for_a_program_that_exits_at_once_are_no_error() {
    let exits = Scenario::program_that_never_reads().prints("45\n");
    let stand_in = StandIn::playing(exits);
    file(&stand_in, "policy.json", r#"{"max_code_bytes": 16000000}"#);
    let mut code = b"#".repeat(10 << 20);
    code.push(b'\n');
    run(&stand_in, &["-", "--policy", "policy.json"]).stdin(code).stdout("45\n").status(0);
}

#[test]
fn ten_megabytes_reach_a_program_that_reads_them() {
    let stand_in = echo();
    file(&stand_in, "policy.json", r#"{"max_code_bytes": 16000000}"#);
    let code = b"#".repeat(10 << 20);
    run(&stand_in, &["-", "--policy", "policy.json"]).stdin(&code).status(0);
    assert!(ran(&stand_in).0 == code, "the program got something else");
}

#[test]
fn a_programs_code_is_on_no_command_line_and_in_no_environment() {
    const SECRET: &str = "a-program-nobody-may-list";
    let program = Scenario::program().waits_for(Trigger::file("go")).exits(3);
    let stand_in = StandIn::playing(program);
    let mut running = run(&stand_in, &["-", "--timeout", "60"]).spawn();
    running.write(SECRET);
    running.close_stdin();
    let name = stand_in.wait_for_call("run").container().to_owned();
    stand_in.wait_for_container(&name, "running");
    let client = stand_in.runs()[0].pid.to_string();
    for pid in [running.pid().to_string(), client] {
        for what in ["cmdline", "environ"] {
            let bytes = fs::read(format!("/proc/{pid}/{what}")).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET), "{what}: {text}");
        }
    }
    stand_in.trigger("go");
    assert_eq!(running.wait().code(), Some(3));
    assert!(stand_in.calls().iter().all(|call| !call.argv.concat().contains(SECRET)));
    assert_eq!(stand_in.runs()[0].stdin, SECRET.as_bytes());
}
