//! What a person at a terminal sees.

use super::run;
use crate::support::{Das, Finished, Scenario, StandIn, redact};

/// What the terminal shows, line ends as the program wrote them.
fn shown(finished: &Finished) -> String {
    redact(&finished.stdout_text().replace("\r\n", "\n"))
}

#[test]
fn what_could_drive_the_terminal_is_shown_instead() {
    let wild = "a\x1b[2J\x1b]52;c;aGk=\x07\u{202e}z\0\n";
    let stand_in = StandIn::playing(Scenario::program().prints(wild));
    let finished = run(&stand_in).spawn_on_terminal().wait();
    let harmless = "a\\x1b[2J\\x1b]52;c;aGk=\\x07\\u{202e}z\\x00\n";
    assert_eq!(shown(&finished), format!("{harmless}[sandbox] success in [TIME]\n"));

    let stand_in = StandIn::playing(Scenario::program().prints_to_stderr(wild));
    let finished = run(&stand_in).spawn_on_terminal().wait();
    assert_eq!(shown(&finished), format!("{harmless}[sandbox] success in [TIME]\n"));
}

#[test]
fn ordinary_text_is_shown_as_it_is() {
    let text = "50 %\tgrüße 你好 😀\n";
    let stand_in = StandIn::playing(Scenario::program().prints(text));
    let finished = run(&stand_in).spawn_on_terminal().wait();
    assert_eq!(shown(&finished), format!("{text}[sandbox] success in [TIME]\n"));
    assert_eq!(finished.code(), Some(0));
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let stand_in = StandIn::playing(Scenario::program().prints(b"a\xff\xfeb\xc3\n"));
    let finished = run(&stand_in).spawn_on_terminal().wait();
    let replaced = "a\u{fffd}\u{fffd}b\u{fffd}\n";
    assert_eq!(shown(&finished), format!("{replaced}[sandbox] success in [TIME]\n"));
}

#[test]
fn a_last_line_without_its_end_is_not_run_into_by_das() {
    let stand_in = StandIn::playing(Scenario::program().prints("45"));
    let finished = run(&stand_in).spawn_on_terminal().wait();
    assert_eq!(shown(&finished), "45\n[sandbox] success in [TIME]\n");
}

#[test]
fn colours_are_for_terminals_that_have_them_and_for_people_who_want_them() {
    let stand_in = StandIn::playing(Scenario::program());
    let coloured = |das: Das<'_>| shown(&das.spawn_on_terminal().wait()).contains('\x1b');
    let on = || run(&stand_in).env("TERM", "xterm-256color");
    assert!(coloured(on()));
    assert!(!coloured(on().env("NO_COLOR", "1")));
    assert!(!coloured(run(&stand_in).env("TERM", "dumb")));
    let piped = on().output();
    assert!(!piped.stderr_text().contains('\x1b'));
}

#[test]
fn a_person_who_types_the_program_is_told_how_to_end() {
    let stand_in = StandIn::playing(Scenario::program().prints_its_stdin());
    let mut running = Das::new(&stand_in).args(["run", "-"]).spawn_on_terminal();
    running.wait_for_stdout("reading the program from the terminal; Ctrl-D ends it");
    running.write("typed\n\x04");
    assert!(shown(&running.wait()).ends_with("typed\n[sandbox] success in [TIME]\n"));
    assert_eq!(stand_in.runs()[0].stdin, b"typed\n");
}
