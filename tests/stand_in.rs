//! The stand-in Docker CLI behaves as the real one does. The texts and exit codes here are those
//! of the real CLI (28.2.2).

use crate::support::{Amount, Cli, Scenario, StandIn, Stop, Stream};

const NAME: &str = "das-0123456789abcdef";

/// `docker run` as the product uses it, in short.
fn run(stand_in: &StandIn) -> Cli<'_> {
    let flags = ["run", "--rm", "-i", "--name", NAME, "--pull", "never", "--network", "none"];
    Cli::docker(stand_in).args(flags).args(["python:3.12-slim", "python", "-"])
}

#[test]
fn a_program_prints_and_exits_with_its_own_code() {
    for code in [0, 1, 124, 125, 126, 127, 137, 143, 255] {
        let program = Scenario::program().prints("45\n").prints_to_stderr("careful\n").exits(code);
        let stand_in = StandIn::playing(program);
        run(&stand_in).stdin("print(45)").stdout("45\n").stderr("careful\n").status(code.into());
        assert_eq!(stand_in.runs()[0].stdin, b"print(45)");
        assert_eq!(stand_in.containers_left(), Vec::<String>::new());
    }
}

#[test]
fn a_killed_program_ends_its_client_with_137() {
    let stand_in =
        StandIn::playing(Scenario::program_that_never_reads().prints("on\n").runs_until_killed());
    let running = run(&stand_in).spawn();
    running.wait_for_stdout("on\n");
    Cli::docker(&stand_in).args(["kill", NAME]).stdout(format!("{NAME}\n")).status(0);
    assert_eq!(running.wait().code(), Some(137));
}

#[test]
fn a_flood_ends_only_with_its_reader_or_its_container() {
    for streams in [&[Stream::Stdout][..], &[Stream::Stderr], &[Stream::Stdout, Stream::Stderr]] {
        let flood = Scenario::program().floods(streams, Amount::Forever);
        let stand_in = StandIn::playing(flood.kill(Stop::BlocksUntilDrained));
        let mut running = run(&stand_in).spawn();
        running.close_stdin();
        stand_in.wait_for_container(NAME, "running");
        Cli::docker(&stand_in).args(["kill", NAME]).stdout(format!("{NAME}\n")).status(0);
        assert_eq!(running.wait().code(), Some(137));
    }
}
