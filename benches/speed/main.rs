//! Measures what das promises of its speed, on this machine's own engine: `cargo bench`.
//!
//! `cargo bench -- --runs 20` measures less, `--only burst,memory` some of it, and `--docs docs`
//! also writes the page and the chart of the documentation. The image is that of
//! `DAS_INTEGRATION_IMAGE`.

mod calls;
mod chart;
mod flags;
mod floods;
mod left;
mod page;
mod process;
mod report;
mod session;
mod small;
mod stats;
mod teardown;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use report::Report;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// One call after the other, with pauses.
    Single,
    /// One call after the other, without pauses.
    BackToBack,
    /// Several calls at once.
    Burst,
    /// Output of 1 KB to 1 GB.
    Output,
    /// Code of 1 KB to 10 MB.
    Code,
    /// What needs no container.
    Start,
    /// The end of a warm call, taken apart.
    Teardown,
    /// What each flag of the command line costs the engine; only where it is asked for.
    Flags,
    /// Memory of das, and the size of its program.
    Memory,
}

const USUAL: [Part; 8] = [
    Part::Single,
    Part::BackToBack,
    Part::Burst,
    Part::Output,
    Part::Code,
    Part::Start,
    Part::Teardown,
    Part::Memory,
];

/// Measures das on this machine's engine.
#[derive(Debug, Parser)]
struct Args {
    /// How many samples of each kind of call.
    #[arg(long, env = "DAS_BENCH_RUNS", default_value_t = 200)]
    runs: usize,
    /// Only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// The most output of one program, in bytes.
    #[arg(long, default_value_t = 1 << 30)]
    flood: u64,
    /// Also write the documentation's page and chart into this directory.
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    /// Given by `cargo bench`, and without meaning.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let image = std::env::var("DAS_INTEGRATION_IMAGE");
    let image = image.unwrap_or_else(|_| "python:3.12-slim".to_owned());
    let mut report = Report::new(&image);
    let parts = if args.only.is_empty() { &USUAL[..] } else { &args.only };
    for part in parts {
        say(&format!("measuring {part:?} ..."));
        measure(*part, &args, &image, &mut report);
    }
    report.left = left::containers();
    match write(&args, &report) {
        Ok(()) if report.left.is_empty() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("cannot write the results: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn measure(part: Part, args: &Args, image: &str, report: &mut Report) {
    let few = (args.runs / 10).clamp(3, 20);
    match part {
        Part::Single => calls::single(image, args.runs, report),
        Part::BackToBack => calls::back_to_back(image, args.runs, report),
        Part::Burst => calls::bursts(image, few, report),
        Part::Output => floods::output(image, args.flood, few.min(9), report),
        Part::Code => floods::code(image, few, report),
        Part::Start => small::start(args.runs.min(50), report),
        Part::Teardown => teardown::measure(image, few.max(10), report),
        Part::Flags => flags::costs(image, few, report),
        Part::Memory => small::memory(image, args.flood, report),
    }
}

fn write(args: &Args, report: &Report) -> io::Result<()> {
    // The directory of the build has one for the temporary files of tests and benches.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is inside");
    let dir = target.join("bench");
    fs::create_dir_all(&dir)?;
    let (json, svg) = (dir.join("speed.json"), dir.join("speed.svg"));
    fs::write(&json, serde_json::to_string_pretty(&report.to_json())?)?;
    let chart = report.chart();
    if let Some(chart) = &chart {
        fs::write(&svg, chart)?;
    }
    if let Some((docs, chart)) = args.docs.as_ref().zip(chart) {
        fs::write(docs.join("speed.svg"), chart)?;
        fs::write(docs.join("speed.md"), page::markdown(report, &machine()))?;
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(report.to_text().as_bytes())?;
    writeln!(stdout, "\nwritten: {} and {}", json.display(), svg.display())
}

/// What the figures were measured on.
fn machine() -> String {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let format = "{{.Client.Version}} (client) and {{.Server.Version}}";
    let words = ["docker", "version", "--format", format].map(str::to_owned);
    let versions = process::output(process::command(&words));
    format!("{processors} processors, Docker {}", versions.trim())
}

/// Talk goes to standard error; the results are data.
fn say(text: &str) {
    // A closed stderr has no reader to mind.
    writeln!(io::stderr(), "{text}").ok();
}
