//! What the end of a warm call is bound by: the same container by hand, with and without `--rm`.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use docker_agent_sandbox::engine::command::CommandLine;

use crate::calls::{CODE, IDLE_GAP, bare};
use crate::process::{self, Sample};
use crate::report::Report;
use crate::stats::Series;

/// Parked containers by hand. What `--rm` takes, the client waits for the removal.
pub(crate) fn measure(image: &str, rounds: usize, report: &mut Report) {
    let mut all: [Series; 4] = Default::default();
    for _ in 0..rounds {
        let [first, removed, kept_first, kept] = &mut all;
        let words = bare(image);
        let sample = parked(&words);
        first.add(sample.first_byte);
        removed.add(sample.whole);
        let words: Vec<String> = bare(image).into_iter().filter(|word| word != "--rm").collect();
        let sample = parked(&words);
        kept_first.add(sample.first_byte);
        kept.add(sample.whole);
        let name = words.iter().position(|word| word == "--name").expect("a run with a name") + 1;
        process::output(CommandLine::new("docker", ["rm", "--force", &words[name]]).to_command());
    }
    let names = [
        "parked by hand, first byte",
        "parked by hand, whole",
        "parked by hand without --rm, first byte",
        "parked by hand without --rm, whole",
    ];
    names.iter().zip(&all).for_each(|(name, series)| report.add(name, series));
    let [first, removed, _, kept] = &all;
    report.note("teardown until the client ends, ms", removed.median() - first.median());
    report.note("of it, what `--rm` takes, ms", removed.median() - kept.median());
}

/// Starts a container, lets it wait, and gives it its code.
fn parked(words: &[String]) -> Sample {
    let mut command = process::command(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a program that can be started");
    thread::sleep(IDLE_GAP);
    let mut stdin = child.stdin.take().expect("it was asked for");
    let mut stdout = child.stdout.take().expect("it was asked for");
    let begun = Instant::now();
    stdin.write_all(CODE.as_bytes()).expect("a program that reads its input");
    drop(stdin);
    stdout.read_exact(&mut [0]).expect("a first byte");
    let first_byte = begun.elapsed();
    assert!(child.wait().expect("a child of this process").success());
    Sample { first_byte, whole: begun.elapsed() }
}
