//! What the engine says on the program's stderr is not the program's.

use serde_json::{Value, json};

use super::{SUCCESS, run};
use crate::support::{Finished, Scenario, StandIn, Trigger, redact};

const WARNING: &str = "WARNING: Your kernel does not support swap limit capabilities or the \
                       cgroup is not mounted. Memory limited without swap.";
const SAID: &str = "[sandbox] warning: the engine says: Your kernel does not support swap limit \
                    capabilities or the cgroup is not mounted. Memory limited without swap.\n";

/// The daemon warns when it has made the container, and starts it when it is told to.
fn warned() -> Scenario {
    Scenario::program().with_warning(WARNING).starts_after(Trigger::file("go"))
}

/// Runs it, with the program's start after das has read the warning.
fn finished(stand_in: &StandIn, args: &[&str]) -> Finished {
    let mut running = run(stand_in).args(["--timeout", "0.3"]).args(args.iter().copied()).spawn();
    running.close_stdin();
    let name = stand_in.wait_for_call("run").container().to_owned();
    stand_in.wait_for_container(&name, "created");
    // das asks now and then whether the program has begun: the second time for sure after it has
    // read the warning.
    let asked = stand_in.calls_of("events").len();
    stand_in.wait_for_calls("events", asked + 2);
    stand_in.trigger("go");
    running.wait()
}

/// What is on the program's stderr, and das's words after it.
#[track_caller]
fn says(stand_in: &StandIn, stderr: &str, code: i32) {
    let finished = finished(stand_in, &[]);
    assert_eq!(redact(&finished.stderr_text()), stderr, "{stand_in}");
    assert_eq!(finished.code(), Some(code));
}

#[test]
fn a_warning_of_the_engine_is_das_own_to_tell() {
    let stand_in = StandIn::playing(warned().prints("45\n").prints_to_stderr("mine\n"));
    says(&stand_in, &format!("mine\n{SAID}{SUCCESS}"), 0);
}

#[test]
fn a_warning_of_the_engine_is_not_in_the_objects_stderr() {
    for code in [0, 1] {
        let stand_in = StandIn::playing(warned().prints_to_stderr("mine\n").exits(code));
        let finished = finished(&stand_in, &["--json"]);
        let outcome: Value = serde_json::from_slice(&finished.stdout).unwrap();
        assert_eq!(outcome["stderr"], "mine\n");
        let said = SAID.trim_start_matches("[sandbox] warning: ").trim_end();
        assert_eq!(outcome["warnings"], json!([said]));
    }
}

#[test]
fn a_program_that_prints_the_same_words_keeps_them() {
    let imitation = format!("{WARNING}\n");
    let alone = StandIn::playing(Scenario::program().prints_to_stderr(&imitation));
    run(&alone).stderr(format!("{imitation}{SUCCESS}")).status(0);

    let after_the_engine = StandIn::playing(warned().prints_to_stderr(&imitation));
    says(&after_the_engine, &format!("{imitation}{SAID}{SUCCESS}"), 0);
}

#[test]
fn a_warning_is_told_when_the_program_fails_and_when_it_is_stopped() {
    let failing = StandIn::playing(warned().exits(3));
    let error = "[sandbox] error (exit code 3) in [TIME]\n";
    says(&failing, &format!("{SAID}{error}"), 3);

    let endless = StandIn::playing(warned().runs_until_killed());
    let finished = finished(&endless, &[]);
    assert!(finished.stderr_text().starts_with(SAID), "{}", finished.stderr_text());
    assert_eq!(finished.code(), Some(124));
}
