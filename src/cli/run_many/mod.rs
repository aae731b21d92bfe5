//! `das run` of many programs: side by side, a line for each, and the worst exit code.

mod files;
mod print;
mod progress;
mod tally;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use signal_hook::consts::SIGPIPE;

pub(super) use self::print::Form;
use self::progress::ProgressLine;
use self::tally::Tally;
use super::run::RunArgs;
use super::source::{self, Source};
use super::{CliError, Exit, signals, status};
use crate::junit::{Case, Suite};
use crate::outcome::classify::StopCause;
use crate::outcome::{Outcome, Verdict};
use crate::policy::SandboxPolicy;
use crate::runner::Stopper;
use crate::sandbox::{Request, Sandbox};
use crate::threads;

/// One program that is over, or was never run.
#[derive(Debug)]
struct Ran {
    name: String,
    result: Result<Outcome, CliError>,
}

/// A program that can be run.
#[derive(Debug)]
struct Job {
    source: Source,
    language: String,
}

/// What is still to be done, with what stops it.
type Queue = std::vec::IntoIter<(String, Result<Job, CliError>, Stopper)>;

/// Everything that the workers have in common.
struct Work {
    base: SandboxPolicy,
    /// For each language one, because a flag may name its image.
    sandboxes: BTreeMap<String, Sandbox>,
    queue: Mutex<Queue>,
}

/// Stops all runs, also those that have not begun.
#[derive(Debug, Clone)]
struct StopAll(Arc<Vec<Stopper>>);

impl StopAll {
    fn stop(&self, cause: StopCause) {
        self.0.iter().for_each(|stopper| stopper.stop(cause));
    }

    fn cause(&self) -> Option<StopCause> {
        self.0.iter().find_map(Stopper::cause)
    }
}

/// Runs all files, so many at once.
pub(super) fn execute(args: &RunArgs) -> Result<Exit, CliError> {
    let base = args.policy.resolve()?;
    let files = files::expand(&args.files, &base)?;
    // Before anything runs, so that a report which cannot be written is no surprise at the end.
    let junit = args.junit.as_deref().map(create).transpose()?;
    let stop = StopAll(Arc::new(files.iter().map(|_| Stopper::default()).collect()));
    let work = Arc::new(Work::new(args, base, files, &stop)?);
    let stopping = stop.clone();
    signals::on_first_signal(move |signal| stopping.stop(StopCause::Signal(signal)))
        .map_err(CliError::Signals)?;
    let stopping = stop.clone();
    signals::on_closed_output(move || stopping.stop(StopCause::OutputClosed))
        .map_err(CliError::Thread)?;
    let started = Instant::now();
    let results = start(&work, jobs(args)).map_err(CliError::Thread)?;
    let (exit, cases) = watch(args, &results, &stop)?;
    if let Some((mut file, path)) = junit {
        let seconds = started.elapsed().as_secs_f64();
        let suite = Suite { name: "das run".to_owned(), seconds, cases };
        file.write_all(suite.to_xml().as_bytes())
            .map_err(|source| CliError::WriteFile { path, source })?;
    }
    Ok(match stop.cause() {
        Some(StopCause::Signal(signal)) => Exit::Signal(signal),
        Some(StopCause::OutputClosed) => Exit::Signal(SIGPIPE),
        Some(StopCause::Deadline | StopCause::Caller) | None => exit,
    })
}

/// As many as were asked for, or as there are processors: the start of a container keeps one busy.
fn jobs(args: &RunArgs) -> usize {
    let processors = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    args.jobs.map_or_else(processors, usize::from)
}

fn create(path: &Path) -> Result<(File, PathBuf), CliError> {
    let failed = |source| CliError::WriteFile { path: path.to_owned(), source };
    Ok((File::create(path).map_err(failed)?, path.to_owned()))
}

impl Work {
    fn new(
        args: &RunArgs,
        base: SandboxPolicy,
        files: Vec<PathBuf>,
        stop: &StopAll,
    ) -> Result<Self, CliError> {
        let mut sandboxes = BTreeMap::new();
        let mut queue = Vec::new();
        for (path, stopper) in files.into_iter().zip(stop.0.iter().cloned()) {
            let name = path.display().to_string();
            let job = Job::new(args, &base, path);
            if let Ok(Job { language, .. }) = &job
                && !sandboxes.contains_key(language)
            {
                sandboxes.insert(language.clone(), args.sandbox(language)?);
            }
            queue.push((name, job, stopper));
        }
        Ok(Self { base, sandboxes, queue: Mutex::new(queue.into_iter()) })
    }

    /// Takes programs from the queue and runs them, until there are none.
    fn run(&self, done: &Sender<Ran>) {
        loop {
            // The lock ends with the statement, not with the run.
            let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((name, job, stopper)) = next else { return };
            let result = job.and_then(|job| self.run_one(&job, &stopper));
            if done.send(Ran { name, result }).is_err() {
                return;
            }
        }
    }

    fn run_one(&self, job: &Job, stopper: &Stopper) -> Result<Outcome, CliError> {
        let code = job.source.read(&self.base)?;
        let sandbox = self.sandboxes.get(&job.language).expect("one was made for each language");
        let request = Request { stopper: stopper.clone(), ..Request::new(&job.language, &code) };
        sandbox.run(request).map_err(CliError::Run)
    }
}

impl Job {
    /// The code itself is read when its turn comes, so that many programs need no memory.
    fn new(args: &RunArgs, base: &SandboxPolicy, path: PathBuf) -> Result<Self, CliError> {
        let named = source::language_of_name(&path, base);
        let source = Source::File(path);
        let language = match args.language.clone().or(named) {
            Some(language) => language,
            None => source.language(&source.read(base)?, base)?,
        };
        Ok(Self { source, language })
    }
}

impl Ran {
    fn succeeded(&self) -> bool {
        self.result.as_ref().is_ok_and(|outcome| outcome.verdict == Verdict::Success)
    }
}

/// Starts the workers: as many as can be had, and at least one. The channel ends with the last of
/// them.
fn start(work: &Arc<Work>, jobs: usize) -> io::Result<Receiver<Ran>> {
    let (done, received) = channel();
    for number in 0..jobs {
        let (theirs, done) = (Arc::clone(work), done.clone());
        match threads::spawn("das-job", move || theirs.run(&done)) {
            Err(error) if number == 0 => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(received)
}

/// Prints each run as it ends, and then what came of all.
fn watch(
    args: &RunArgs,
    received: &Receiver<Ran>,
    stop: &StopAll,
) -> Result<(Exit, Vec<Case>), CliError> {
    let form = args.many_form();
    let progress = match form {
        Form::Lines => ProgressLine::on_stderr(stop.0.len()),
        Form::Json | Form::Failures => ProgressLine::hidden(),
    };
    let started = Instant::now();
    let (mut tally, mut cases, mut told) = (Tally::default(), Vec::new(), Vec::new());
    let mut printed = Ok(());
    progress.show(0);
    // To the last one also where nobody reads any more: das outlives its containers.
    for ran in received {
        progress.clear();
        tally.add(&ran);
        warn(&ran, &mut told);
        if printed.is_ok() {
            printed = print::run(&ran, form);
        }
        if printed.is_err() {
            stop.stop(StopCause::OutputClosed);
        }
        if args.junit.is_some() {
            cases.push(print::case(&ran));
        }
        progress.show(tally.total());
    }
    progress.clear();
    let summary = format!("{} in {:.2}s", tally.summary(), started.elapsed().as_secs_f64());
    printed.and_then(|()| print::summary(&summary, form)).map_err(CliError::Write)?;
    Ok((tally.exit(), cases))
}

/// Says once what more than one run would say.
fn warn(ran: &Ran, told: &mut Vec<String>) {
    let Ok(outcome) = &ran.result else { return };
    for warning in &outcome.warnings {
        if !told.contains(warning) {
            status::warn(warning);
            told.push(warning.clone());
        }
    }
}
