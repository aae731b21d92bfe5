//! What the program did: its own exit codes, its death, its start that fails.

use std::thread;

use docker_agent_sandbox::Verdict;
use docker_agent_sandbox::engine::Patience;
use docker_agent_sandbox::outcome::VERDICTS;

use super::{run, said};
use crate::support::{
    Amount, Answer, Das, Events, InProcess, Scenario, StandIn, Stop, Stream, Trigger,
};

const SWAP_WARNING: &str = "WARNING: Your kernel does not support swap limit capabilities or the \
                            cgroup is not mounted. Memory limited without swap.";

/// What Docker says when it fails itself, for programs that imitate it.
const FAILURES: [&str; 4] = [
    "docker: Error response from daemon: No such image: x:1\n",
    "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker \
     daemon running?\n",
    "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: \
     runc create failed: unable to start container process: exec: \"python\": executable file not \
     found in $PATH: unknown\n",
    "Failed to initialize: unable to resolve docker endpoint: context not found\n",
];

#[test]
fn every_exit_code_is_the_programs_own() {
    let codes: Vec<u8> = (0..=255).collect();
    thread::scope(|scope| {
        for codes in codes.chunks(64) {
            scope.spawn(|| codes.chunks(16).for_each(exit_with));
        }
    });
}

/// One program after the other, in the test's own process: that spares three others for each.
fn exit_with(codes: &[u8]) {
    let program = |code: &u8| Scenario::program().exits(*code).times(1);
    let programs = codes.iter().map(program).reduce(Scenario::or).expect("some codes");
    let stand_in = StandIn::playing(programs);
    let sandbox = InProcess::new(&stand_in, 600.0, Patience::default());
    for code in codes {
        let outcome = sandbox.run();
        let verdict = if *code == 0 { Verdict::Success } else { Verdict::Error };
        let exit_code = Some(i32::from(*code));
        assert_eq!((outcome.verdict, outcome.exit_code), (verdict, exit_code), "{stand_in}");
        assert_eq!(outcome.process_exit_code(), *code);
    }
}

#[test]
fn an_exit_code_is_told_as_what_it_means() {
    for code in [0, 1, 2, 3, 124, 125, 126, 127, 128, 137, 139, 143, 159, 255] {
        is_told(code);
    }
}

fn is_told(code: u8) {
    let stand_in = StandIn::playing(Scenario::program().exits(code));
    let said = match code {
        0 => "[sandbox] success in [TIME]\n".to_owned(),
        139 => said(
            "error (exit code 139)",
            "segmentation fault: the interpreter or a native library crashed",
        ),
        159 => said(
            "error (exit code 159)",
            "killed for a system call that the sandbox does not allow",
        ),
        _ => format!("[sandbox] error (exit code {code}) in [TIME]\n"),
    };
    run(&stand_in).stderr(said).status(code.into());
}

#[test]
fn a_signal_that_the_program_dies_of_is_in_its_exit_code() {
    let stand_in = StandIn::playing(Scenario::program().dies_by_signal(6));
    run(&stand_in).stderr("[sandbox] error (exit code 134) in [TIME]\n").status(134);
}

#[test]
fn a_success_asks_the_engine_nothing_more() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n"));
    run(&stand_in).stdout("45\n").stderr("[sandbox] success in [TIME]\n").status(0);
    assert!(stand_in.calls_of("events").is_empty());
}

#[test]
fn a_program_that_prints_what_docker_prints_keeps_its_words_and_its_exit_code() {
    for text in FAILURES {
        for code in [1, 125, 126, 127, 137] {
            let stand_in = StandIn::playing(Scenario::program().prints_to_stderr(text).exits(code));
            let finished = run(&stand_in).output();
            assert_eq!(finished.code(), Some(code.into()), "{text}");
            let ending = format!("{text}[sandbox] error (exit code {code}) in ");
            assert!(finished.stderr_text().starts_with(&ending), "{}", finished.stderr_text());
        }
    }
}

#[test]
fn the_deadline_is_a_timeout() {
    let stand_in = StandIn::playing(Scenario::program().prints("so far\n").runs_until_killed());
    run(&stand_in)
        .args(["--timeout", "0.2"])
        .stdout("so far\n")
        .stderr(said(
            "timeout",
            "stopped after 0.2 s, its time limit; do less work, or allow more time",
        ))
        .status(124);
    stand_in.wait_until_empty();
}

#[test]
fn the_oom_killers_strike_at_the_program_is_out_of_memory() {
    let stand_in = StandIn::playing(Scenario::program().runs_out_of_memory());
    run(&stand_in)
        .args(["--memory", "64"])
        .stderr(said(
            "out_of_memory",
            "used more than 64 MiB of memory, files in /tmp included; work on less at a time, or \
             allow more",
        ))
        .status(137);
}

#[test]
fn the_oom_killers_strike_at_a_child_leaves_the_program_its_exit_code() {
    let stand_in = StandIn::playing(Scenario::program().child_runs_out_of_memory().exits(119));
    run(&stand_in)
        .stderr(said(
            "error (exit code 119)",
            "the kernel killed one of its processes for using more than 256 MiB of memory",
        ))
        .status(119);
    let stand_in = StandIn::playing(Scenario::program().child_runs_out_of_memory());
    run(&stand_in).stderr("[sandbox] success in [TIME]\n").status(0);
}

#[test]
fn a_program_that_kills_itself_is_not_out_of_memory() {
    let stand_in = StandIn::playing(Scenario::program().exits(137));
    run(&stand_in).stderr("[sandbox] error (exit code 137) in [TIME]\n").status(137);
}

#[test]
fn a_missing_interpreter_is_127_and_one_that_cannot_be_executed_126() {
    let stand_in = StandIn::playing(Scenario::program().interpreter_is_missing());
    run(&stand_in)
        .stderr(said(
            "cannot_start (exit code 127)",
            "the image `python:3.12-slim` has no such interpreter; name an image that has \
             python's interpreter",
        ))
        .status(127);
    let stand_in = StandIn::playing(Scenario::program().interpreter_is_not_executable());
    run(&stand_in)
        .stderr(said(
            "cannot_start (exit code 126)",
            "the image `python:3.12-slim` has an interpreter that cannot be executed; name an \
             image that has python's interpreter",
        ))
        .status(126);
}

#[test]
fn a_warning_of_the_engine_does_not_hide_a_missing_interpreter() {
    let missing = Scenario::program().with_warning(SWAP_WARNING).interpreter_is_missing();
    let stand_in = StandIn::playing(missing);
    assert_eq!(run(&stand_in).output().code(), Some(127));
}

#[test]
fn an_end_that_the_engine_forgot_is_the_exit_code_that_no_client_gives() {
    for events in [Events::Empty, Events::Garbage, Events::Without(vec!["die".to_owned()])] {
        let stand_in = StandIn::playing(Scenario::program().exits(3).events(events));
        run(&stand_in).stderr("[sandbox] error (exit code 3) in [TIME]\n").status(3);
    }
}

#[test]
fn an_end_that_the_engine_forgot_is_unknown_where_the_client_may_have_failed() {
    let no_die = Events::Without(vec!["die".to_owned()]);
    let refused = Events::Answers(Answer::failure(1, "Error response from daemon: no\n"));
    for events in [no_die, refused] {
        let stand_in = StandIn::playing(Scenario::program().exits(125).events(events));
        run(&stand_in)
            .stderr(said(
                "sandbox_error",
                "the program's end is unknown: the engine does not say how it ended; check that \
                 the engine runs (`das doctor`), then run it again",
            ))
            .status(125);
    }
}

#[test]
fn a_program_that_ends_between_its_deadline_and_the_kill_is_judged_by_its_own_end() {
    // The kill reports success and does nothing: the program has ended by itself by then.
    for code in [0, 1, 3, 125, 126, 127] {
        let program = Scenario::program().prints("done\n").waits_for(Trigger::file("go"));
        let late = program.exits(code).kill(Stop::Ignored);
        let stand_in = StandIn::playing(late);
        let mut running = run(&stand_in).args(["--timeout", "0.2"]).spawn();
        running.close_stdin();
        stand_in.wait_for_call("kill");
        stand_in.eventually("the answer to the kill", || {
            stand_in.calls_of("kill")[0].ended.is_some().then_some(())
        });
        stand_in.trigger("go");
        let finished = running.wait();
        assert_eq!(finished.code(), Some(code.into()), "{}", finished.stderr_text());
        assert_eq!(finished.stdout_text(), "done\n");
        stand_in.wait_until_empty();
    }
}

#[test]
fn a_flood_past_its_deadline_is_a_timeout_and_not_an_error() {
    let flood = Scenario::program().floods(&[Stream::Stdout, Stream::Stderr], Amount::Forever);
    let stand_in = StandIn::playing(flood);
    let run = Das::new(&stand_in).args(["run", "-c", "pass", "--json", "--timeout", "0.3"]);
    let finished = run.output();
    assert_eq!(finished.code(), Some(124));
    let outcome: serde_json::Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!((&outcome["verdict"], &outcome["truncated"]), (&"timeout".into(), &true.into()));
    stand_in.wait_until_empty();
}

#[test]
fn every_verdict_has_a_test_here() {
    let shown = ["success", "error", "timeout", "out_of_memory", "cannot_start", "sandbox_error"];
    let elsewhere = ["cancelled"];
    for (_, name, _, _) in VERDICTS {
        assert!(shown.contains(&name) || elsewhere.contains(&name), "{name}");
    }
}
