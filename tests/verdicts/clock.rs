//! Engines whose clock is not das's: another machine's, or a virtual machine's that has slept.

use std::time::Duration;

use docker_agent_sandbox::Verdict;
use docker_agent_sandbox::engine::Patience;

use crate::support::{InProcess, Scenario, StandIn};

/// Days behind and ahead, and less than a program runs.
const SECONDS_AHEAD: [i64; 4] = [-90_000, -1, 1, 90_000];

#[track_caller]
fn verdicts_are(program: impl Fn() -> Scenario, verdict: Verdict) {
    for ahead in SECONDS_AHEAD {
        let stand_in = StandIn::playing(program().clock_ahead(ahead));
        let patience = Patience { ask: Duration::from_millis(700), ..Patience::default() };
        let outcome = InProcess::new(&stand_in, 0.2, patience).run();
        assert_eq!(outcome.verdict, verdict, "{ahead} s ahead: {:?}\n{stand_in}", outcome.hint);
        stand_in.wait_until_empty();
    }
}

#[test]
fn a_program_that_fails_has_failed_whatever_the_engines_clock_shows() {
    for code in [1, 125, 127, 137] {
        verdicts_are(|| Scenario::program().exits(code), Verdict::Error);
    }
}

#[test]
fn out_of_memory_is_known_whatever_the_engines_clock_shows() {
    verdicts_are(|| Scenario::program().runs_out_of_memory(), Verdict::OutOfMemory);
}

#[test]
fn a_timeout_is_a_timeout_whatever_the_engines_clock_shows() {
    verdicts_are(|| Scenario::program().runs_until_killed(), Verdict::Timeout);
}

#[test]
fn an_engines_clock_is_looked_at_only_where_its_record_lacks_something() {
    let stand_in = StandIn::playing(Scenario::program().exits(1));
    assert_eq!(InProcess::new(&stand_in, 5.0, Patience::default()).run().exit_code, Some(1));
    assert_eq!(stand_in.calls_of("info").len(), 0);
}
