//! `print(1)` from end to end: bare, cold, warm; alone, in a row, in bursts.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use docker_agent_sandbox::policy::SandboxPolicy;
use docker_agent_sandbox::runner::Live;
use docker_agent_sandbox::{Request, Sandbox, Verdict};

use crate::left;
use crate::process::{self, Sample};
use crate::report::{BARE, Report};
use crate::session::Session;
use crate::stats::Series;

pub(crate) const CODE: &str = "print(1)";

/// Long enough for a container to be started and to wait.
pub(crate) const IDLE_GAP: Duration = Duration::from_millis(600);

/// How many calls of one kind are made before the other kind has its turn.
const BLOCK: usize = 10;

/// The command line of a run, with a name of its own.
pub(crate) fn bare(image: &str) -> Vec<String> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let explained = process::output(process::das(&["explain", "--json", "--image", image]));
    let mut words: Vec<String> = serde_json::from_str(&explained).expect("an array of words");
    let name = words.iter().position(|word| word == "--name").expect("a run with a name");
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    words[name + 1] = format!("{}{}-{number}", left::BARE, std::process::id());
    words
}

fn run_bare(image: &str) -> Sample {
    process::run(process::command(&bare(image)), CODE.as_bytes())
}

fn run_das(image: &str) -> Sample {
    process::run(process::das(&["run", "--image", image, "-"]), CODE.as_bytes())
}

/// A sandbox of the library that says when the first byte came.
struct Library {
    sandbox: Sandbox,
}

struct FirstByte {
    begun: Instant,
    after: Arc<Mutex<Option<Duration>>>,
}

impl Write for FirstByte {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut after = self.after.lock().map_err(|_| io::ErrorKind::Other)?;
        after.get_or_insert(self.begun.elapsed());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Library {
    fn new(image: &str) -> Self {
        let mut policy = SandboxPolicy::default();
        let image = image.parse().expect("an image reference");
        policy.images.insert("python".parse().expect("a language"), image);
        let sandbox = Sandbox::new(policy).expect("a policy that holds").with_parked_containers();
        sandbox.expect("python").expect("a language that is offered");
        Self { sandbox }
    }

    fn run(&self) -> Sample {
        let after = Arc::default();
        let begun = Instant::now();
        let first = FirstByte { begun, after: Arc::clone(&after) };
        let live = Live { stdout: Some(Arc::new(Mutex::new(first))), stderr: None };
        let request = Request { live, ..Request::new("python", CODE.as_bytes()) };
        let outcome = self.sandbox.run(request).expect("a run");
        let whole = begun.elapsed();
        assert_eq!(outcome.verdict, Verdict::Success);
        let first_byte = after.lock().expect("nobody panics with it").unwrap_or(whole);
        Sample { first_byte, whole }
    }
}

/// All kinds in turn, so that whatever disturbs the machine disturbs all of them.
pub(crate) fn single(image: &str, runs: usize, report: &mut Report) {
    let mut cold = Session::start(&["--image", image, "--warm", "0"]);
    let mut warm = Session::start(&["--image", image, "--warm", "1"]);
    let library = Library::new(image);
    let mut all: [Series; 8] = Default::default();
    run_bare(image);
    for _ in 0..runs {
        let [bare, bare_first, run, run_first, cold_mcp, warm_mcp, warm_lib, warm_first] = &mut all;
        let sample = run_bare(image);
        bare.add(sample.whole);
        bare_first.add(sample.first_byte);
        let sample = run_das(image);
        run.add(sample.whole);
        run_first.add(sample.first_byte);
        cold_mcp.add(cold.call(CODE));
        thread::sleep(IDLE_GAP);
        warm_mcp.add(warm.call(CODE));
        thread::sleep(IDLE_GAP);
        let sample = library.run();
        warm_lib.add(sample.whole);
        warm_first.add(sample.first_byte);
        thread::sleep(IDLE_GAP);
    }
    let names = [
        BARE,
        "docker run, first byte",
        "das run",
        "das run, first byte",
        "das mcp, cold",
        "das mcp, warm, idle gap",
        "das library, warm, idle gap",
        "das, warm, first byte",
    ];
    names.iter().zip(&all).for_each(|(name, series)| report.add(name, series));
    let [bare, bare_first, run, _, cold_mcp, warm_mcp, _, warm_first] = &all;
    report.ratio("das run, cold", run, bare, 1.03);
    report.ratio("das mcp, cold", cold_mcp, bare, 1.05);
    report.ratio("das mcp, warm, idle gap: whole result", warm_mcp, bare, 0.20);
    report.ratio("warm, idle gap: first byte", warm_first, bare_first, 0.04);
}

/// Blocks of calls in a row, in turn with blocks of bare runs in a row.
pub(crate) fn back_to_back(image: &str, runs: usize, report: &mut Report) {
    let mut one = Session::start(&["--image", image, "--warm", "1"]);
    let mut four = Session::start(&["--image", image, "--warm", "4"]);
    let mut all: [Series; 3] = Default::default();
    let mut means = [Duration::ZERO; 3];
    let blocks = runs.div_ceil(BLOCK);
    for _ in 0..blocks {
        let mut block = |index: usize, call: &mut dyn FnMut() -> Duration| {
            thread::sleep(2 * IDLE_GAP);
            let begun = Instant::now();
            (0..BLOCK).for_each(|_| all[index].add(call()));
            means[index] += begun.elapsed();
        };
        block(0, &mut || run_bare(image).whole);
        block(1, &mut || one.call(CODE));
        block(2, &mut || four.call(CODE));
    }
    let names = [
        "docker run, back-to-back",
        "das mcp, warm, back-to-back",
        "das mcp, 4 parked, back-to-back",
    ];
    names.iter().zip(&all).for_each(|(name, series)| report.add(name, series));
    let [bare, one, four] = &all;
    report.ratio("das mcp, warm, back-to-back", one, bare, 0.60);
    report.ratio("das mcp, 4 parked, back-to-back", four, bare, 0.60);
    let calls = u32::try_from(blocks * BLOCK).unwrap_or(u32::MAX);
    for (name, mean) in names.iter().zip(means) {
        report.note(&format!("{name}: mean, ms"), mean.as_secs_f64() * 1000.0 / f64::from(calls));
    }
}

/// So many calls at once on as many parked containers, in turn with as many bare runs at once.
pub(crate) fn bursts(image: &str, rounds: usize, report: &mut Report) {
    let policy = std::env::temp_dir().join(format!("das-bench-{}.json", std::process::id()));
    for size in [4, 8, 16] {
        let text = format!("{{\"warm\": {size}, \"max_concurrent\": {size}}}");
        std::fs::write(&policy, text).expect("a writable directory");
        let path = policy.to_str().expect("a path that is text");
        let mut warm = Session::start(&["--image", image, "--policy", path]);
        // Time for all of them to be parked.
        let gap = Duration::from_millis(160) * size + IDLE_GAP;
        let count = usize::try_from(size).expect("a small number");
        let mut all: [Series; 3] = Default::default();
        for _ in 0..rounds {
            let [single, bare, das] = &mut all;
            single.add(run_bare(image).whole);
            bare.extend(bare_burst(image, count));
            thread::sleep(gap);
            das.extend(warm.burst(CODE, count));
            thread::sleep(gap);
        }
        let [single, bare, das] = &all;
        report.add(&format!("docker run, burst of {size}"), bare);
        report.add(&format!("das mcp, warm, burst of {size}"), das);
        let what = format!("burst of {size} on {size} parked: p50 against one docker run");
        if size == 8 {
            report.ratio(&what, das, single, 0.70);
        } else {
            report.note(&what, das.median() / single.median());
        }
        let what = format!("burst of {size} on {size} parked: p50 against a burst of docker run");
        report.note(&what, das.median() / bare.median());
    }
    std::fs::remove_file(&policy).expect("it was written");
}

fn bare_burst(image: &str, count: usize) -> Vec<Duration> {
    let lines: Vec<_> = (0..count).map(|_| bare(image)).collect();
    let begun = Instant::now();
    thread::scope(|scope| {
        let run = |words: &Vec<String>| {
            let command = process::command(words);
            scope.spawn(move || {
                process::run(command, CODE.as_bytes());
                begun.elapsed()
            })
        };
        let running: Vec<_> = lines.iter().map(run).collect();
        running.into_iter().map(|it| it.join().expect("a run")).collect()
    })
}
