//! What a program prints, how it ends, and what becomes of its client.

use rustix::process::Signal;

use super::{NAME, docker, kill, run, run_named};
use crate::support::{
    Amount, Answer, Call, Daemon, Ended, Pipe, Scenario, StandIn, Stream, Trigger,
};

const BOTH: &[Stream] = &[Stream::Stdout, Stream::Stderr];

#[test]
fn a_program_prints_and_exits_with_its_own_code() {
    for code in [0, 1, 2, 124, 125, 126, 127, 137, 143, 255] {
        let program = Scenario::program().prints("45\n").prints_to_stderr("careful\n").exits(code);
        let stand_in = StandIn::playing(program);
        run(&stand_in).stdout("45\n").stderr("careful\n").status(code.into());
        assert!(stand_in.containers_left().is_empty());
        assert_eq!(stand_in.runs()[0].ended, Some(Ended::Exit(code)));
    }
}

#[test]
fn a_program_without_an_exit_ends_with_0() {
    run(&StandIn::playing(Scenario::program())).status(0);
}

#[test]
fn a_signal_that_kills_the_program_is_128_and_its_number() {
    run(&StandIn::playing(Scenario::program().dies_by_signal(11))).status(139);
}

#[test]
fn bytes_that_are_no_text_come_through() {
    let bytes = b"\xff\xfe\0\x1b[2J";
    run(&StandIn::playing(Scenario::program().prints(bytes))).stdout(bytes).status(0);
}

#[test]
fn a_warning_of_the_daemon_comes_before_the_programs_own_words() {
    let warning = "WARNING: Your kernel does not support swap limit capabilities or the cgroup is \
                   not mounted. Memory limited without swap.";
    let program = Scenario::program().with_warning(warning).prints_to_stderr("mine\n");
    run(&StandIn::playing(program)).stderr(format!("{warning}\nmine\n")).status(0);
}

#[test]
fn a_bounded_flood_has_exactly_its_bytes() {
    let stand_in = StandIn::playing(Scenario::program().floods(BOTH, Amount::Only(200_001)));
    let finished = run(&stand_in).output();
    assert_eq!((finished.stdout.len(), finished.stderr.len()), (200_001, 200_001));
    assert_eq!((&finished.stdout[..4], finished.stdout.last()), (&b"y\ny\n"[..], Some(&b'y')));
}

#[test]
fn an_endless_flood_lasts_until_the_container_is_killed() {
    for streams in [&[Stream::Stdout][..], &[Stream::Stderr], BOTH] {
        let stand_in = StandIn::playing(Scenario::program().floods(streams, Amount::Forever));
        let mut running = run(&stand_in).spawn();
        running.close_stdin();
        stand_in.eventually("a flood", || (running.output_len() > 200_000).then_some(()));
        kill(&stand_in);
        assert_eq!(running.wait().code(), Some(137));
    }
}

#[test]
fn a_client_whose_stdout_is_closed_gives_up_and_the_container_goes_on() {
    let stand_in = StandIn::playing(Scenario::program().floods(&[Stream::Stdout], Amount::Forever));
    let mut running = run(&stand_in).pipes(Pipe::Closed, Pipe::Read).spawn();
    running.close_stdin();
    let finished = running.wait();
    assert_eq!(finished.stderr_text(), "write /dev/stdout: broken pipe\n");
    assert_eq!(finished.code(), Some(1));
    assert_eq!(stand_in.container_phase(NAME).as_deref(), Some("running"));
}

#[test]
fn a_client_whose_stderr_is_closed_dies_of_it() {
    let stand_in = StandIn::playing(Scenario::program().floods(&[Stream::Stderr], Amount::Forever));
    let mut running = run(&stand_in).pipes(Pipe::Read, Pipe::Closed).spawn();
    running.close_stdin();
    assert_eq!(running.wait().signal(), Some(Signal::PIPE.as_raw()));
}

#[test]
fn a_program_can_print_byte_by_byte() {
    let once = Scenario::program().trickles(Stream::Stdout, "drip", 1, Amount::Only(2));
    run(&StandIn::playing(once)).stdout("dripdrip").status(0);

    let forever = Scenario::program().trickles(Stream::Stderr, ".", 1, Amount::Forever);
    let stand_in = StandIn::playing(forever);
    let mut running = run(&stand_in).spawn();
    running.close_stdin();
    running.wait_for_stderr("....");
    kill(&stand_in);
    assert_eq!(running.wait().code(), Some(137));
}

#[test]
fn a_grandchild_keeps_the_pipes_after_the_clients_exit() {
    let program = Scenario::program().prints("45\n").leaves_a_grandchild("let-go");
    let stand_in = StandIn::playing(program);
    let mut running = run(&stand_in).spawn();
    running.close_stdin();
    assert_eq!(running.wait_for_exit().code(), Some(0));
    running.wait_for_stdout("45\n");
    assert!(running.stdout_is_open());
    stand_in.trigger("let-go");
    assert_eq!(running.wait().stdout_text(), "45\n");
}

#[test]
fn a_client_that_is_killed_leaves_a_running_container() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n").client_dies());
    let mut running = run(&stand_in).spawn();
    running.close_stdin();
    let finished = running.wait();
    assert_eq!(finished.signal(), Some(Signal::KILL.as_raw()));
    assert_eq!(stand_in.runs()[0].ended, Some(Ended::Signal(Signal::KILL.as_raw())));
    assert_eq!(stand_in.containers_left(), [NAME]);
    kill(&stand_in);
    assert!(stand_in.containers_left().is_empty());
}

#[test]
fn the_daemon_can_go_while_a_program_runs() {
    let lost = Answer::failure(125, "error waiting for container: unexpected EOF\n");
    let program = Scenario::program().prints("4").daemon_goes(Daemon::Down).client_exits(lost);
    let stand_in = StandIn::playing(program);
    run(&stand_in).stdout("4").stderr("error waiting for container: unexpected EOF\n").status(125);
    let down = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker \
                daemon running?\n";
    docker(&stand_in, &["kill", NAME]).stderr(down).status(1);
    assert_eq!(stand_in.containers_left(), [NAME]);
}

#[test]
fn a_client_outlives_two_signals_and_gives_up_at_the_third() {
    let stand_in = StandIn::playing(Scenario::program().prints("on\n").runs_until_killed());
    let mut running = run(&stand_in).spawn();
    running.close_stdin();
    running.wait_for_stdout("on\n");
    for (count, signal) in [Signal::TERM, Signal::HUP, Signal::INT].into_iter().enumerate() {
        running.send_signal(signal);
        stand_in.eventually("a signal", || {
            (stand_in.runs()[0].signals.len() == count + 1).then_some(())
        });
    }
    running.send_signal_to_group(Signal::TERM);
    let finished = running.wait();
    assert_eq!(finished.code(), Some(1));
    assert_eq!(finished.stderr_text(), "\ngot 3 SIGTERM/SIGINTs, forcefully exiting\n");
    assert_eq!(stand_in.container_phase(NAME).as_deref(), Some("running"));
}

#[test]
fn a_program_can_wait_for_the_test() {
    let program = Scenario::program().marks("here").waits_for(Trigger::file("go")).prints("on\n");
    let stand_in = StandIn::playing(program.waits_for(Trigger::Millis(1)));
    let mut running = run(&stand_in).spawn();
    running.close_stdin();
    stand_in.wait_for_mark("here");
    assert_eq!(running.stdout(), b"");
    stand_in.trigger("go");
    assert_eq!(running.wait().stdout_text(), "on\n");
}

#[test]
fn eight_runs_at_once_do_not_mix() {
    let stand_in = StandIn::playing(Scenario::program().prints_its_stdin().runs_until_killed());
    let mut runs: Vec<_> = (0..8)
        .map(|number| (number, run_named(&stand_in, &format!("run-{number}")).spawn()))
        .collect();
    for (number, running) in &mut runs {
        running.write(format!("code {number}"));
        running.close_stdin();
    }
    for (number, running) in &runs {
        running.wait_for_stdout(&format!("code {number}"));
    }
    // One dies alone, the others together.
    docker(&stand_in, &["kill", "run-3"]).stdout("run-3\n").status(0);
    stand_in.eventually("one end", || (stand_in.containers_left().len() == 7).then_some(()));
    docker(&stand_in, &["rm", "-f"]).args(stand_in.containers_left()).output();
    for (number, running) in runs {
        let finished = running.wait();
        assert_eq!(finished.stdout_text(), format!("code {number}"));
        assert_eq!(finished.code(), Some(137));
    }
    let calls = stand_in.wait_for_calls("run", 8);
    assert!(calls.iter().all(has_its_own_code));
    assert!(calls.is_sorted_by_key(|call| call.number));
}

/// `run-5` is given `code 5`.
fn has_its_own_code(call: &Call) -> bool {
    let number = call.container().trim_start_matches("run-");
    call.stdin == format!("code {number}").as_bytes()
}

#[test]
fn rules_choose_the_program_of_a_run() {
    let first = Scenario::program().prints("first\n").times(1);
    let shell = Scenario::program().when_arg("sh").prints("shell\n");
    let other = Scenario::program().prints("other\n");
    let stand_in = StandIn::playing(first.or(shell).or(other));
    run(&stand_in).stdout("first\n").status(0);
    let shell = ["run", "--rm", "--name", NAME, "--pull=never", "alpine:3.20", "sh", "-c", "true"];
    docker(&stand_in, &shell).stdout("shell\n").status(0);
    run(&stand_in).stdout("other\n").status(0);

    let anew = Scenario::program().prints("anew\n").times(1);
    stand_in.play(anew.or(Scenario::program()));
    run(&stand_in).stdout("anew\n").status(0);
    run(&stand_in).status(0);
}
