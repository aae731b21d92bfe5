//! What each flag of the command line costs: the bare run with all of them, less the one without it.

use crate::calls::{CODE, bare};
use crate::process;
use crate::report::Report;
use crate::stats::Series;

/// Those without a value.
const SWITCHES: [&str; 4] = ["--rm", "-i", "--read-only", "--no-healthcheck"];

/// Without these it would be another run, or leave something behind.
const NEEDED: [&str; 5] = ["--rm", "-i", "--name", "--pull", "--label"];

pub(crate) fn costs(image: &str, runs: usize, report: &mut Report) {
    let flags = flags(&bare(image), image);
    let mut pairs: Vec<[Series; 2]> = flags.iter().map(|_| Default::default()).collect();
    // In turn, so that whatever disturbs the machine disturbs all of them.
    for _ in 0..runs {
        for (flag, [with, without]) in flags.iter().zip(&mut pairs) {
            let mut words = bare(image);
            with.add(run(&words));
            let at = words.windows(flag.len()).position(|part| part == flag.as_slice());
            let at = at.expect("the flag is in every command line");
            words.drain(at..at + flag.len());
            without.add(run(&words));
        }
    }
    for (flag, [with, without]) in flags.iter().zip(&pairs) {
        let cost = with.median() - without.median();
        report.note(&format!("cost of {}, ms", flag.join(" ")), cost);
    }
}

fn run(words: &[String]) -> std::time::Duration {
    process::run(process::command(words), CODE.as_bytes()).whole
}

/// Each flag with its value.
fn flags(words: &[String], image: &str) -> Vec<Vec<String>> {
    let mut words = words.iter().skip(2).take_while(|word| *word != image);
    let mut flags = Vec::new();
    while let Some(word) = words.next() {
        let mut flag = vec![word.clone()];
        if !SWITCHES.contains(&word.as_str()) {
            flag.extend(words.next().cloned());
        }
        if word == "--memory" {
            // An engine refuses a limit of swap without one of memory.
            flag.extend(words.by_ref().take(2).cloned());
        }
        if !NEEDED.contains(&word.as_str()) {
            flags.push(flag);
        }
    }
    flags
}
