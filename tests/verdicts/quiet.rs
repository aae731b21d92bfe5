//! `das run --quiet`: silent about programs, never about failures of its own.

use super::{run, said};
use crate::support::{Daemon, Scenario, StandIn};

#[test]
fn a_quiet_run_prints_nothing_but_what_the_program_prints() {
    for (code, args) in [(0, ["--quiet"]), (3, ["-q"])] {
        let program = Scenario::program().prints("45\n").prints_to_stderr("hm\n").exits(code);
        let stand_in = StandIn::playing(program);
        run(&stand_in).args(args).stdout("45\n").stderr("hm\n").status(code.into());
    }
    let stand_in = StandIn::playing(Scenario::program().runs_until_killed());
    run(&stand_in).args(["-q", "--timeout", "0.2"]).status(124);
}

#[test]
fn a_warning_is_never_quiet() {
    let stand_in = StandIn::playing(Scenario::program());
    run(&stand_in)
        .args(["-q", "--allow-network"])
        .stderr(
            "[sandbox] warning: network access is on: programs can reach the internet and this \
             machine's network\n",
        )
        .status(0);
}

#[test]
fn a_failure_that_is_not_the_programs_is_never_quiet() {
    let stand_in = StandIn::playing(Scenario::program().without_images());
    run(&stand_in)
        .args(["-q", "--pull", "never"])
        .stderr(said(
            "sandbox_error",
            "the engine has no image `python:3.12-slim`; `das image pull python` fetches it, `das \
             image build python` makes one from this machine's own interpreter",
        ))
        .status(125);
    let stand_in = StandIn::playing(Scenario::program().daemon(Daemon::Down));
    let finished = run(&stand_in).arg("-q").output();
    assert!(finished.stderr_text().contains("cannot be reached"));
}
