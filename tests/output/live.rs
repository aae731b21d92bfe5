//! Output is shown while the program still runs.

use super::{SUCCESS, run};
use crate::support::{Scenario, StandIn, Trigger};

#[test]
fn a_first_line_is_seen_while_the_program_runs() {
    let program = Scenario::program().prints("first\n").waits_for(Trigger::file("go"));
    let stand_in = StandIn::playing(program.prints("second\n"));
    let running = run(&stand_in).spawn();
    running.wait_for_stdout("first\n");
    assert_eq!(running.stdout(), b"first\n");
    stand_in.trigger("go");
    assert_eq!(running.wait().stdout_text(), "first\nsecond\n");
}

#[test]
fn a_prompt_without_a_line_end_is_seen_too() {
    let program = Scenario::program().prints("name? ").waits_for(Trigger::file("go"));
    let stand_in = StandIn::playing(program);
    let running = run(&stand_in).spawn();
    running.wait_for_stdout("name? ");
    stand_in.trigger("go");
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn errors_are_seen_while_the_program_runs() {
    // The second begins as Docker's own words do, so the engine is asked whose they are.
    for text in ["careful\n", "Error: careful\n"] {
        let program = Scenario::program().prints_to_stderr(text).waits_for(Trigger::file("go"));
        let stand_in = StandIn::playing(program);
        let running = run(&stand_in).spawn();
        running.wait_for_stderr(text);
        stand_in.trigger("go");
        assert_eq!(running.wait().code(), Some(0));
    }
}

#[test]
fn each_stream_goes_to_its_own() {
    let program = Scenario::program().prints("1\n").prints_to_stderr("2\n").prints("3\n");
    let stand_in = StandIn::playing(program.prints_to_stderr("4\n"));
    run(&stand_in).stdout("1\n3\n").stderr(format!("2\n4\n{SUCCESS}")).status(0);
}

#[test]
fn an_error_without_a_line_end_is_not_run_into_by_das() {
    let stand_in = StandIn::playing(Scenario::program().prints("45").prints_to_stderr("oh"));
    run(&stand_in).stdout("45").stderr(format!("oh\n{SUCCESS}")).status(0);
}

#[test]
fn an_object_comes_alone_at_the_end() {
    let program = Scenario::program().prints("early\n").marks("printed");
    let stand_in = StandIn::playing(program.waits_for(Trigger::file("go")));
    let running = run(&stand_in).arg("--json").spawn();
    stand_in.wait_for_mark("printed");
    assert_eq!(running.output_len(), 0);
    stand_in.trigger("go");
    assert!(running.wait().stdout_text().starts_with("{\"verdict\":\"success\""));
}
