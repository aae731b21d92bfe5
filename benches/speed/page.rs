//! The documentation's page on speed: the method, the chart and the tables.

use crate::report::Report;

/// The page, for this machine.
pub(crate) fn markdown(report: &Report, machine: &str) -> String {
    format!(
        "# How fast das is\n\n\
         `cargo bench` measures this on your machine, with its own engine, and says which promises are met. \
         `cargo bench -- --docs docs` also writes this page.\n\n\
         ![Times of print(1) in a fresh container](speed.svg)\n\n\
         Measured on {machine}, image `{image}`, {left}.\n\n\
         ## Method\n\n\
         The floor is bare `docker run` with the very command line that `das explain` prints: what every tool pays \
         that starts a container for each call. It is measured in the same run, in turn with the others, so that \
         whatever disturbs the machine disturbs all of them; promises are ratios of medians. A time is that of the \
         whole result, from the request to the answer, if it does not say first byte. *Idle gap* calls come 0.6 s \
         after the last answer, when the next container is parked; *back-to-back* calls come at once; a *burst* comes \
         all at once.\n\n\
         ## Promises\n\n{promises}\n\
         {BOUNDS}\n\
         ## Times\n\n{times}\n\
         ## The rest\n\n```text\n{rest}```\n",
        image = report.image(),
        left = match report.left.len() {
            0 => "no container left at the end".to_owned(),
            some => format!("{some} containers left at the end"),
        },
        promises = report.promises(),
        times = report.times(),
        rest = report.rest(),
    )
}

/// What the figures are bound by.
const BOUNDS: &str = "\
A warm call costs what the engine takes to end a container: the program itself has answered after a few milliseconds, and \
the client reports its exit when the engine has torn the container down (*teardown*, below). das waits for that, because a \
verdict before the container's end would be a guess. Eight warm calls at once are eight teardowns at once: on two \
processors the last of them waits for the others, so that a burst takes most of the time of one cold run, and a fifth of \
the time of eight. Calls back-to-back need a new container each: they are bound by the engine's start of a container, and \
by `warm`, which says how many may be started ahead.\n\n\
The flags of the command line cost nothing that this can measure: without any one of them a bare run takes as long, \
within its noise of 20 ms. `--network none` alone makes a difference: it saves 50 to 80 ms, the set-up of a network \
(`cargo bench -- --only flags`).
";
