//! The deadline holds for every program, and for the program alone.

use super::run;
use crate::support::{Amount, Finished, Scenario, StandIn, Stop, Stream, Trigger, redact};

const BOTH: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

/// Runs it with very little time.
fn hurried(stand_in: &StandIn) -> Finished {
    let finished = run(stand_in).args(["--timeout", "0.3"]).output();
    stand_in.wait_until_empty();
    finished
}

#[test]
fn a_program_that_only_waits_is_stopped() {
    let stand_in = StandIn::playing(Scenario::program().prints("on\n").runs_until_killed());
    let finished = hurried(&stand_in);
    assert_eq!((finished.stdout_text().as_str(), finished.code()), ("on\n", Some(124)));
}

#[test]
fn a_program_that_never_stops_printing_is_stopped() {
    for streams in [&BOTH[..1], &BOTH[1..], &BOTH] {
        let stand_in = StandIn::playing(Scenario::program().floods(streams, Amount::Forever));
        assert_eq!(hurried(&stand_in).code(), Some(124));
    }
}

#[test]
fn a_byte_now_and_then_does_not_postpone_it() {
    for stream in BOTH {
        let trickle = Scenario::program().trickles(stream, ".", 10, Amount::Forever);
        let stand_in = StandIn::playing(trickle);
        assert_eq!(hurried(&stand_in).code(), Some(124));
    }
}

#[test]
fn a_program_that_never_reads_its_code_is_stopped() {
    let stand_in = StandIn::playing(Scenario::program_that_never_reads().runs_until_killed());
    assert_eq!(hurried(&stand_in).code(), Some(124));
}

#[test]
fn a_kill_that_waits_for_the_reader_is_not_waited_for_in_vain() {
    for streams in [&BOTH[..1], &BOTH[1..], &BOTH] {
        let flood = Scenario::program().floods(streams, Amount::Forever);
        let stand_in = StandIn::playing(flood.kill(Stop::BlocksUntilDrained));
        assert_eq!(hurried(&stand_in).code(), Some(124));
    }
}

#[test]
fn the_time_that_the_engine_takes_to_start_is_not_the_programs() {
    let slow = Scenario::program().starts_after(Trigger::Millis(700)).prints("45\n");
    let stand_in = StandIn::playing(slow);
    let finished = hurried(&stand_in);
    assert_eq!((finished.stdout_text().as_str(), finished.code()), ("45\n", Some(0)));
}

#[test]
fn a_program_that_exits_at_its_deadline_has_one_verdict_and_all_its_output() {
    let close = Scenario::program().prints("done\n").waits_for(Trigger::Millis(300)).exits(7);
    let stand_in = StandIn::playing(close);
    let spawn = |_| run(&stand_in).args(["--timeout", "0.3"]).spawn();
    let runs: Vec<_> = (0..12).map(spawn).collect();
    for running in runs {
        let finished = running.wait();
        let said = redact(&finished.stderr_text());
        let verdict = match finished.code() {
            Some(7) => "[sandbox] error (exit code 7) in [TIME]\n",
            Some(124) => {
                "[sandbox] timeout in [TIME]\n[sandbox] hint: stopped after 0.3 s, its time limit; \
                 do less work, or allow more time\n"
            }
            other => panic!("{other:?}: {said}"),
        };
        assert_eq!((finished.stdout_text().as_str(), said.as_str()), ("done\n", verdict));
    }
    stand_in.wait_until_empty();
}
