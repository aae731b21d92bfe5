//! A machine that has nothing left to give: no descriptors, no processes. das runs the program or
//! says why not; it never hangs, never panics and never leaves a container.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Cli, Finished, Place as _, Scenario, StandIn};

/// `das run` under a limit that its engine's client does not have, which is not what is tested.
fn das_under<'a>(stand_in: &'a StandIn, limit: &str) -> Cli<'a> {
    let docker = stand_in.home().join("docker");
    let raised = "ulimit -Sn \"$(ulimit -Hn)\"; ulimit -Su \"$(ulimit -Hu)\"";
    let script = format!("#!/bin/bash\n{raised}\nexec '{}' \"$@\"\n", stand_in.path().display());
    fs::write(&docker, script).unwrap();
    fs::set_permissions(&docker, fs::Permissions::from_mode(0o755)).unwrap();
    let run = format!("ulimit -S{limit} && exec \"$@\"");
    Cli::program(stand_in, Path::new("/bin/bash"))
        .args(["-c", &run, "bash", env!("CARGO_BIN_EXE_das"), "run", "-c", "pass", "--engine"])
        .arg(docker.to_str().unwrap())
}

/// The program has run, or das says that something else failed, and why.
#[track_caller]
fn runs_or_says_why_not(stand_in: &StandIn, limit: &str, finished: &Finished) {
    let said = finished.stderr_text();
    assert!(!said.contains("panicked"), "{limit}: {said}");
    match finished.code() {
        Some(0) => assert_eq!(finished.stdout_text(), "hello\n", "{limit}"),
        Some(125) => assert!(said.contains("hint: "), "{limit}: {said}"),
        Some(_) | None => panic!("{limit}: {finished:?}"),
    }
    stand_in.wait_until_empty();
    stand_in.wait_until_no_process_is_left();
}

#[test]
fn a_das_that_may_open_few_files_runs_its_program_or_says_why_not() {
    let mut ran = 0;
    for files in 4..40 {
        let limit = format!("n {files}");
        let stand_in = StandIn::playing(Scenario::program().prints("hello\n").exits(0));
        let finished = das_under(&stand_in, &limit).output();
        runs_or_says_why_not(&stand_in, &limit, &finished);
        ran += u32::from(finished.code() == Some(0));
    }
    assert!((1..36).contains(&ran), "{ran} of 36 ran: these limits show nothing");
}

#[test]
#[ignore = "needs root: users of their own, who may start few processes"]
fn a_das_that_may_start_few_processes_runs_its_program_or_says_why_not() {
    let mut ran = 0;
    for processes in 1..24 {
        let limit = format!("u {processes}");
        let stand_in = StandIn::playing(Scenario::program().prints("hello\n").exits(0));
        for dir in [stand_in.home(), stand_in.dir()] {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
        }
        // One for each limit: what has ended counts until the system's init has noticed.
        let id = (54_300 + processes).to_string();
        let user = ["--reuid", &id, "--regid", &id, "--clear-groups"];
        let finished = das_under(&stand_in, &limit).run_by("setpriv", &user).output();
        runs_or_says_why_not(&stand_in, &limit, &finished);
        ran += u32::from(finished.code() == Some(0));
    }
    assert!((1..23).contains(&ran), "{ran} of 23 ran: these limits show nothing");
}
