//! However das ends, its container ends too.

use rustix::process::Signal;
use serde_json::json;

use super::limits::outcome;
use crate::support::{Finished, Language, Pipe, Real, Running};

/// Starts a program that sleeps, and gives the process id of its das once it runs.
fn sleeping(real: &Real) -> (Running<'_>, u32) {
    let running = real.das().args(["run", "-l", "shell", "-c", "echo on; sleep 60"]).spawn();
    running.wait_for_stdout("on");
    let pid = running.pid();
    real.wait_for_container_of(pid);
    (running, pid)
}

#[test]
#[ignore = "needs Docker: signals to das"]
fn a_signal_ends_the_container_and_then_das_as_it_would_have() {
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1)] {
        let real = Real::new();
        let (running, pid) = sleeping(&real);
        running.send_signal(signal);
        let finished = running.wait();
        assert_eq!(finished.signal(), Some(number), "{}", finished.stderr_text());
        assert_eq!(real.containers_of(pid), Vec::<String>::new());
        assert!(finished.stderr_text().starts_with("[sandbox] cancelled in "));
    }
}

#[test]
#[ignore = "needs Docker: signals to das and all its children"]
fn a_signal_to_the_whole_process_group_ends_the_container_too() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        let real = Real::new();
        let (running, pid) = sleeping(&real);
        running.send_signal_to_group(signal);
        assert_eq!(running.wait().signal(), Some(signal.as_raw()));
        real.wait_until_none_of(pid);
    }
}

#[test]
#[ignore = "needs Docker: SIGKILL to das"]
fn a_killed_das_leaves_no_container() {
    let real = Real::new();
    let (mut running, pid) = sleeping(&real);
    running.send_signal(Signal::KILL);
    running.wait_for_exit();
    real.wait_until_none_of(pid);
}

#[test]
#[ignore = "needs Docker: SIGKILL to das while the container comes to be"]
fn a_das_that_is_killed_early_leaves_no_container() {
    let real = Real::new();
    let killed: Vec<u32> = (0..10)
        .map(|turn| {
            let mut running = real.das().args(["run", "-l", "shell", "-c", "sleep 60"]).spawn();
            let pid = running.pid();
            // Later each time: before the client, during the creation, after the start.
            for _ in 0..turn {
                real.containers_of(pid);
            }
            running.send_signal(Signal::KILL);
            running.wait_for_exit();
            pid
        })
        .collect();
    for pid in killed {
        real.wait_until_none_of(pid);
    }
}

#[test]
#[ignore = "needs Docker: the reader of the output goes away"]
fn a_closed_stdout_ends_the_container_also_while_nothing_is_printed() {
    for code in ["sleep 60", "yes"] {
        let real = Real::new();
        let command = real.das().args(["run", "-l", "shell", "-c", code]);
        let running = command.pipes(Pipe::Closed, Pipe::Read).spawn();
        let pid = running.pid();
        let finished = running.wait();
        assert_eq!(finished.signal(), Some(13), "{}", finished.stderr_text());
        real.wait_until_none_of(pid);
    }
}

#[test]
#[ignore = "needs Docker: `das run | head`"]
fn a_pipe_to_head_ends_in_time() {
    let real = Real::new();
    let das = format!("{} run -l shell -c yes | head -n 1", env!("CARGO_BIN_EXE_das"));
    let shell = crate::support::Cli::program(&real, std::path::Path::new("/bin/sh"));
    let finished = shell.env("DAS_POLICY", real.policy()).args(["-c", &das]).output();
    assert_eq!(finished.stdout_text(), "y\n");
}

#[test]
#[ignore = "needs Docker: processes that the program leaves behind"]
fn what_a_program_leaves_in_the_background_ends_with_it() {
    let real = Real::new();
    let code = "setsid sleep 60 >/dev/null 2>&1 & echo done";
    let finished = real.run(Language::Shell, code).arg("--json").output();
    let outcome = outcome(&finished);
    assert_eq!((&outcome["verdict"], &outcome["stdout"]), (&json!("success"), &json!("done\n")));
    let id = outcome["run_id"].as_str().expect("a text");
    real.wait_until_gone(&format!("das-{id}"));
}

#[test]
#[ignore = "needs Docker: sixty-four runs at once"]
fn sixty_four_runs_at_once_do_not_mix() {
    let real = Real::new();
    let program = |number: usize| {
        let code = format!("import sys\nfor _ in range(500): print({number})\nsys.exit({number})");
        let mut running = real.run(Language::Python, "").arg("--json").arg("--timeout").arg("60");
        running = running.args(["--max-output", "1000000"]);
        let mut running = running.spawn();
        running.feed(code.into_bytes());
        running
    };
    let running: Vec<Running<'_>> = (1..=64).map(program).collect();
    let finished: Vec<Finished> = running.into_iter().map(Running::wait).collect();
    let mut ids = Vec::new();
    for (number, finished) in (1..=64).zip(&finished) {
        let outcome = outcome(finished);
        assert_eq!(outcome["exit_code"], number, "{outcome}");
        assert_eq!(outcome["stdout"], format!("{number}\n").repeat(500));
        ids.push(outcome["run_id"].as_str().expect("a text").to_owned());
    }
    for id in &ids {
        real.wait_until_gone(&format!("das-{id}"));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 64);
}

#[test]
#[ignore = "needs Docker: what one run leaves for the next"]
fn no_run_finds_anything_of_the_one_before() {
    let real = Real::new();
    let leave = "for dir in /tmp /dev/shm; do echo secret >$dir/left; done; \
                 ls /tmp /dev/shm | grep -c left; cat /proc/sys/kernel/hostname";
    let first = real.run(Language::Shell, leave).output();
    let look = "ls -A /tmp /dev/shm; cat /proc/sys/kernel/hostname";
    let second = real.run(Language::Shell, look).output();
    let first = first.stdout_text();
    let host = first.strip_prefix("2\n").unwrap_or_else(|| panic!("{first}"));
    let found = second.stdout_text();
    let other = found.strip_prefix("/dev/shm:\n\n/tmp:\n").unwrap_or_else(|| panic!("{found}"));
    assert_ne!(host, other);
}

#[test]
#[ignore = "needs Docker: the command that `das explain` prints"]
fn what_explain_prints_runs_when_it_is_pasted_into_a_shell() {
    for language in Language::ALL {
        let real = Real::new();
        let explain = ["explain", "-l", language.name(), "--memory", "128"];
        let command = real.das().args(explain).output().stdout_text();
        let shell = crate::support::Cli::program(&real, std::path::Path::new("/bin/sh"));
        let code = language.prints("pasted") + &language.exits(7);
        shell.args(["-c", &command]).stdin(code).stdout("pasted\n").status(7);

        let words = real.das().args(explain).arg("--json").output().stdout;
        let words: Vec<String> = serde_json::from_slice(&words).expect("a list of words");
        let docker = crate::support::Cli::program(&real, std::path::Path::new(&words[0]));
        docker.args(&words[1..]).stdin(language.exits(8)).status(8);
    }
}

#[test]
#[ignore = "needs Docker: code that is large, and code that nobody reads"]
fn large_code_runs_and_code_that_is_not_read_is_no_failure() {
    let real = Real::new();
    let large = format!("x = '{}'\nprint(len(x))\n", "a".repeat(1_000_000));
    real.run(Language::Python, large)
        .stdout("1000000\n")
        .stderr("[sandbox] success in [TIME]\n")
        .status(0);
    let early = format!("process.exit(5) // {}", "a".repeat(1_000_000));
    real.run(Language::Node, early).stderr("[sandbox] error (exit code 5) in [TIME]\n").status(5);
}
