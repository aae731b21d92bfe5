//! What a program gets on stdin, and what is written down of it.

use super::{NAME, docker, run};
use crate::support::{Scenario, StandIn};

#[test]
fn stdin_is_kept_byte_by_byte() {
    let code = b"print('\0\xff')\r\n";
    let stand_in = StandIn::playing(Scenario::program().prints_its_stdin());
    run(&stand_in).stdin(code).stdout(code).status(0);
    assert_eq!(stand_in.runs()[0].stdin, code);
}

#[test]
fn a_program_can_exit_without_reading_ten_megabytes() {
    let stand_in = StandIn::playing(Scenario::program_that_never_reads().exits(3));
    run(&stand_in).stdin(vec![b'x'; 10_000_000]).status(3);
    assert_eq!(stand_in.runs()[0].stdin, b"");
}

#[test]
fn a_program_can_read_ten_megabytes() {
    let stand_in = StandIn::playing(Scenario::program());
    run(&stand_in).stdin(vec![b'x'; 10_000_000]).status(0);
    assert_eq!(stand_in.runs()[0].stdin.len(), 10_000_000);
}

#[test]
fn a_program_waits_for_the_end_of_its_code() {
    let stand_in = StandIn::playing(Scenario::program().prints("done\n"));
    let mut running = run(&stand_in).spawn();
    stand_in.wait_for_call("run");
    running.write("print(");
    stand_in.eventually("the first half", || (stand_in.runs()[0].stdin == b"print(").then_some(()));
    assert_eq!(running.stdout(), b"");
    running.write("1)");
    running.close_stdin();
    assert_eq!(running.wait().stdout_text(), "done\n");
}

#[test]
fn what_a_program_does_can_depend_on_its_code() {
    let stand_in = StandIn::playing(Scenario::program_that_never_reads().acts_on_code(&[
        ("print(1)", Scenario::program_that_never_reads().prints("1\n")),
        ("exit(7)", Scenario::program_that_never_reads().exits(7)),
    ]));
    run(&stand_in).stdin("print(1)").stdout("1\n").status(0);
    run(&stand_in).stdin("import sys; sys.exit(7)").status(7);

    let lost = run(&stand_in).stdin("fork()").output();
    assert_eq!(lost.code(), Some(64));
    assert!(stand_in.take_unplayed().contains("no branch for the code `fork()`"));
}

#[test]
fn without_interactive_a_program_has_no_stdin() {
    let stand_in = StandIn::playing(Scenario::program().prints_its_stdin());
    docker(&stand_in, &["run", "--rm", "--name", NAME, "--pull", "never", "i:1"])
        .stdin("code")
        .status(0);
    assert_eq!(stand_in.runs()[0].stdin, b"");
}
