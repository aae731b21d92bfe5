//! Clients, grandchildren and containers that go their own way.

use rustix::process::{Pid, Signal, kill_process};

use super::{run, runs_on};
use crate::support::{Das, Scenario, StandIn, redact};

const UNKNOWN: &str = "[sandbox] sandbox_error in [TIME]\n[sandbox] hint: the program's end is \
                       unknown: the engine does not say how it ended; check that the engine runs \
                       (`das doctor`), then run it again\n";

#[test]
fn a_client_that_somebody_kills_leaves_no_container() {
    let stand_in = StandIn::playing(Scenario::program().prints("on\n").runs_until_killed());
    let running = runs_on(&stand_in);
    running.wait_for_stdout("on\n");
    let client = Pid::from_raw(stand_in.runs()[0].pid).expect("a process");
    kill_process(client, Signal::KILL).expect("a living client");
    let finished = running.wait();
    assert_eq!(redact(&finished.stderr_text()), UNKNOWN);
    assert_eq!((finished.stdout_text().as_str(), finished.code()), ("on\n", Some(125)));
    stand_in.wait_until_empty();
}

#[test]
fn a_grandchild_that_keeps_the_pipes_does_not_keep_das() {
    for code in [0, 3] {
        let program = Scenario::program().prints("45\n").leaves_a_grandchild("never");
        let stand_in = StandIn::playing(program.exits(code));
        let finished = run(&stand_in).output();
        assert_eq!((finished.stdout_text().as_str(), finished.code()), ("45\n", Some(code.into())));
    }
}

#[test]
fn a_killed_das_leaves_no_container() {
    let stand_in = StandIn::playing(Scenario::program().runs_until_killed());
    let running = runs_on(&stand_in);
    running.send_signal_to_group(Signal::KILL);
    assert_eq!(running.wait().signal(), Some(Signal::KILL.as_raw()));
    stand_in.wait_until_empty();
}

#[test]
fn sixteen_runs_at_once_have_their_own_names_outputs_and_ends() {
    let stand_in = StandIn::playing(Scenario::program().prints_its_stdin());
    let runs: Vec<_> = (0..16)
        .map(|number| {
            let code = format!("code {number}");
            (code.clone(), Das::new(&stand_in).args(["run", "-q", "-c", &code]).spawn())
        })
        .collect();
    for (code, running) in runs {
        let finished = running.wait();
        assert_eq!((finished.stdout_text(), finished.code()), (code, Some(0)));
    }
    let mut names: Vec<String> =
        stand_in.runs().iter().map(|run| run.container().to_owned()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 16);
    stand_in.wait_until_empty();
}
