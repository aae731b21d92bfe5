//! Whoever closes das's stdout wants no more of the program.

use rustix::process::Signal;

use super::run;
use crate::support::{Amount, Pipe, Scenario, StandIn, Stream, redact};

const NOBODY_READS: &str = "[sandbox] cancelled in [TIME]\n[sandbox] hint: stopped: nobody reads \
                            its output any more\n";

#[test]
fn a_program_that_prints_is_stopped() {
    let flood = Scenario::program().floods(&[Stream::Stdout], Amount::Forever);
    let stand_in = StandIn::playing(flood);
    let finished = run(&stand_in).arg("-q").pipes(Pipe::Closed, Pipe::Read).spawn().wait();
    assert_eq!(finished.stderr_text(), "");
    assert_eq!(finished.signal(), Some(Signal::PIPE.as_raw()));
    stand_in.wait_until_empty();
}

#[test]
fn a_program_that_prints_nothing_is_stopped_too() {
    let stand_in = StandIn::playing(Scenario::program().runs_until_killed());
    let mut running = run(&stand_in).pipes(Pipe::Unread, Pipe::Read).spawn();
    let name = stand_in.wait_for_call("run").container().to_owned();
    stand_in.wait_for_container(&name, "running");
    running.close_stdout();
    let finished = running.wait();
    assert_eq!(redact(&finished.stderr_text()), NOBODY_READS);
    assert_eq!(finished.signal(), Some(Signal::PIPE.as_raw()));
    stand_in.wait_until_empty();
}

#[test]
fn an_object_that_nobody_reads_is_a_closed_output_too() {
    let stand_in = StandIn::playing(Scenario::program().runs_until_killed());
    let mut running = run(&stand_in).arg("--json").pipes(Pipe::Unread, Pipe::Read).spawn();
    let name = stand_in.wait_for_call("run").container().to_owned();
    stand_in.wait_for_container(&name, "running");
    running.close_stdout();
    let finished = running.wait();
    assert_eq!(finished.stderr_text(), "");
    assert_eq!(finished.signal(), Some(Signal::PIPE.as_raw()));
    stand_in.wait_until_empty();
}

#[test]
fn a_closed_stderr_stops_nothing() {
    let program = Scenario::program().prints_to_stderr("hm\n").prints("45\n");
    let stand_in = StandIn::playing(program);
    let finished = run(&stand_in).pipes(Pipe::Read, Pipe::Closed).spawn().wait();
    assert_eq!((finished.stdout_text().as_str(), finished.code()), ("45\n", Some(0)));
}
