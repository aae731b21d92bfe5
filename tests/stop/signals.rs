//! SIGINT, SIGTERM and SIGHUP end the run in each of its phases, and das then dies of them.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use rustix::process::Signal;

use super::{run, runs_on};
use crate::support::{
    Amount, Cli, Das, Finished, Orphan, Pipe, Scenario, StandIn, Stop, Stream, Trigger, redact,
};

const SIGNALS: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::HUP];

fn endless() -> Scenario {
    Scenario::program().runs_until_killed()
}

/// das died of the signal, having said this, and nothing is left.
#[track_caller]
fn died(stand_in: &StandIn, finished: &Finished, signal: Signal, stderr: &str) {
    assert_eq!(redact(&finished.stderr_text()), stderr, "{stand_in}");
    assert_eq!(finished.signal(), Some(signal.as_raw()), "{stand_in}");
    stand_in.wait_until_empty();
}

const CANCELLED: &str = "[sandbox] cancelled in [TIME]\n";

#[test]
fn while_the_program_runs() {
    for signal in SIGNALS {
        let stand_in = StandIn::playing(endless());
        let running = runs_on(&stand_in);
        running.send_signal(signal);
        died(&stand_in, &running.wait(), signal, CANCELLED);
    }
}

#[test]
fn before_there_is_a_container() {
    for signal in SIGNALS {
        let late = endless().created_late(Trigger::file("go"), Orphan::Running);
        let stand_in = StandIn::playing(late);
        let running = run(&stand_in).spawn();
        stand_in.wait_for_call("run");
        running.send_signal(signal);
        // The first attempt comes too early.
        stand_in.wait_for_calls("kill", 2);
        stand_in.trigger("go");
        died(&stand_in, &running.wait(), signal, CANCELLED);
    }
}

#[test]
fn when_the_container_has_been_made_and_never_starts() {
    for signal in SIGNALS {
        let stand_in = StandIn::playing(endless().never_starts());
        let running = run(&stand_in).spawn();
        let name = stand_in.wait_for_call("run").container().to_owned();
        stand_in.wait_for_container(&name, "created");
        running.send_signal(signal);
        died(&stand_in, &running.wait(), signal, CANCELLED);
    }
}

#[test]
fn while_the_program_is_killed_at_its_deadline() {
    for signal in SIGNALS {
        let stand_in = StandIn::playing(endless().kill(Stop::After(Trigger::file("go"))));
        let running = run(&stand_in).args(["--timeout", "0.2"]).spawn();
        stand_in.wait_for_call("kill");
        running.send_signal(signal);
        stand_in.trigger("go");
        // What the program did is told as it was; das dies all the same.
        let timeout = "[sandbox] timeout in [TIME]\n[sandbox] hint: stopped after 0.2 s, its time \
                       limit; do less work, or allow more time\n";
        died(&stand_in, &running.wait(), signal, timeout);
    }
}

#[test]
fn while_das_cleans_up() {
    for signal in SIGNALS {
        let lost = Scenario::program().client_dies().rm(Stop::After(Trigger::file("go")));
        let stand_in = StandIn::playing(lost);
        let running = run(&stand_in).spawn();
        stand_in.wait_for_call("rm");
        running.send_signal(signal);
        stand_in.trigger("go");
        let unknown = "[sandbox] sandbox_error in [TIME]\n[sandbox] hint: the program's end is \
                       unknown: the engine does not say how it ended; check that the engine runs \
                       (`das doctor`), then run it again\n";
        died(&stand_in, &running.wait(), signal, unknown);
    }
}

#[test]
fn while_the_program_is_still_being_read() {
    let stand_in = StandIn::new();
    let mut running = Das::new(&stand_in).args(["run", "-"]).spawn();
    running.write("print(");
    running.send_signal(Signal::TERM);
    died(&stand_in, &running.wait(), Signal::TERM, "");
    assert!(stand_in.calls().is_empty());
}

#[test]
fn a_terminals_ctrl_c_reaches_das_alone() {
    let stand_in = StandIn::playing(endless());
    let running = runs_on(&stand_in);
    running.send_signal_to_group(Signal::INT);
    died(&stand_in, &running.wait(), Signal::INT, CANCELLED);
    assert!(stand_in.runs()[0].signals.is_empty(), "the client was in das's group");
}

#[test]
fn a_second_signal_ends_das_at_once_and_the_container_soon() {
    let stand_in = StandIn::playing(endless().kill(Stop::Hangs));
    let running = runs_on(&stand_in);
    running.send_signal(Signal::TERM);
    stand_in.wait_for_call("kill");
    running.send_signal(Signal::INT);
    died(&stand_in, &running.wait(), Signal::INT, "");
}

#[test]
fn a_hangup_that_das_was_told_to_ignore_is_ignored() {
    let stand_in = StandIn::playing(endless().or(Scenario::nothing()));
    let das = env!("CARGO_BIN_EXE_das");
    let script = "trap '' HUP; exec \"$0\" run -c pass";
    let nohup = Cli::program(&stand_in, Path::new("/bin/sh")).args(["-c", script, das]).spawn();
    let name = stand_in.wait_for_call("run").container().to_owned();
    stand_in.wait_for_container(&name, "running");
    nohup.send_signal(Signal::HUP);
    nohup.send_signal(Signal::TERM);
    died(&stand_in, &nohup.wait(), Signal::TERM, CANCELLED);
}

#[test]
fn a_reader_that_does_not_read_keeps_neither_the_container_nor_das() {
    let flood = Scenario::program().floods(&[Stream::Stdout], Amount::Forever);
    for scenario in [flood, Scenario::program().floods(&[Stream::Stdout], Amount::Only(500_000))] {
        let stand_in = StandIn::playing(scenario.marks("printed"));
        let running = run(&stand_in)
            .args(["--max-output", "1000000"])
            .pipes(Pipe::Unread, Pipe::Read)
            .spawn();
        let name = stand_in.wait_for_call("run").container().to_owned();
        stand_in.eventually("a flood or its end", || {
            (stand_in.container_phase(&name).as_deref() != Some("created")).then_some(())
        });
        running.send_signal(Signal::TERM);
        assert_eq!(running.wait().signal(), Some(Signal::TERM.as_raw()), "{stand_in}");
        stand_in.wait_until_empty();
    }
}

#[test]
fn a_reader_of_errors_that_does_not_read_keeps_das_no_more() {
    let flood = Scenario::program().floods(&[Stream::Stderr], Amount::Forever);
    let stand_in = StandIn::playing(flood);
    let mut running =
        run(&stand_in).args(["--max-output", "1000000"]).pipes(Pipe::Read, Pipe::Unread).spawn();
    let name = stand_in.wait_for_call("run").container().to_owned();
    stand_in.wait_for_container(&name, "running");
    running.send_signal(Signal::TERM);
    assert_eq!(running.wait_for_exit().signal(), Some(Signal::TERM.as_raw()));
    stand_in.wait_until_empty();
}
