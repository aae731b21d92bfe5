//! Runs the walls' probes with a policy, an image and an engine, and says of each wall whether it
//! holds.
//!
//! Runs go the way of every other run, through [`Sandbox`](crate::sandbox::Sandbox). What a run tells is judged by the
//! table of walls; nothing is judged here.

mod looks;
mod plan;
mod report;
mod runs;
mod stop;

pub use report::{Finding, Report, State, Subject, junit, table};
pub use stop::Stoppers;

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::plan::Refusal;
use crate::policy::{PolicyError, SandboxPolicy};
use crate::walls::Wall;
use crate::walls::evidence::{Evidence, Run, Told};
use crate::walls::probes::Family;
use looks::Looks;
use plan::Job;
use runs::Runner;

/// How many jobs run side by side: more would only wait for the engine.
const SIDE_BY_SIDE: usize = 4;

/// What is verified.
#[derive(Debug, Clone)]
pub struct Order {
    /// The policy.
    pub policy: SandboxPolicy,
    /// The language, which also tells the image.
    pub language: String,
    /// The walls, in the order in which they are told.
    pub walls: Vec<Wall>,
}

/// Why nothing was verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The policy does not hold on this machine.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The policy does not offer the language.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// There are no probes in this language.
    #[error("there are no probes in `{language}`, only in python, node and shell")]
    NoProbes {
        /// The language.
        language: String,
    },
    /// There is no engine on this machine.
    #[error("{0}")]
    NoEngine(String),
}

/// What one job has found out.
enum News {
    Told(Run, Told),
    Look(Looks),
}

/// What is told while a verification goes on.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// What is verified.
    Begun(&'a Subject),
    /// A wall has been judged.
    Judged(&'a Finding),
}

/// Who is told.
pub type Tell<'a> = dyn FnMut(Event<'_>) + 'a;

/// Verifies walls. `tell` hears what is verified, and of each wall as soon as it is judged.
pub fn verify(
    order: &Order,
    stoppers: &Stoppers,
    tell: &mut Tell<'_>,
) -> Result<Report, VerifyError> {
    let began = Instant::now();
    let family = Family::of(&order.language)
        .ok_or_else(|| VerifyError::NoProbes { language: order.language.clone() })?;
    let runner = Runner::new(order, family, stoppers)?;
    let subject = runner.subject();
    tell(Event::Begun(&subject));
    let mut progress = Progress::new(order, &runner);
    let queue = Mutex::new(plan::jobs(&order.walls));
    let work = |sender: &Sender<News>| {
        while let Some(job) = next(&queue) {
            // The other end listens until all senders are gone.
            runner.work(job, &|news| sender.send(news).unwrap_or(()));
        }
    };
    thread::scope(|scope| {
        let (sender, news) = mpsc::channel();
        let beside = (0..SIDE_BY_SIDE).filter(|_| {
            let (sender, work) = (sender.clone(), &work);
            thread::Builder::new().spawn_scoped(scope, move || work(&sender)).is_ok()
        });
        if beside.count() == 0 {
            // No thread is to be had: then one after the other, and the news at the end.
            work(&sender);
        }
        drop(sender);
        for news in news {
            progress.hear(news, tell);
        }
    });
    // What is left at the end can be seen at the end alone.
    progress.hear(News::Look(runner.left(&order.walls)), tell);
    let findings = progress.finish(tell);
    Ok(Report { subject, findings, duration: began.elapsed(), stopped: stoppers.cause() })
}

fn next(queue: &Mutex<VecDeque<Job>>) -> Option<Job> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// What is known so far, and which walls have been judged.
struct Progress<'a> {
    order: &'a Order,
    evidence: Evidence,
    waiting: Vec<Wall>,
    findings: BTreeMap<Wall, Finding>,
}

impl<'a> Progress<'a> {
    fn new(order: &'a Order, runner: &Runner<'_>) -> Self {
        let evidence = Evidence {
            promised: runner.promised().clone(),
            runs: BTreeMap::new(),
            outside: looks::outside(),
        };
        Self { order, evidence, waiting: order.walls.clone(), findings: BTreeMap::new() }
    }

    fn hear(&mut self, news: News, tell: &mut Tell<'_>) {
        match news {
            News::Told(run, told) => {
                self.evidence.runs.insert(run, told);
            }
            News::Look(looks) => looks.note(&mut self.evidence.outside),
        }
        let (ready, waiting): (Vec<Wall>, Vec<Wall>) =
            self.waiting.iter().partition(|wall| self.is_ready(**wall));
        self.waiting = waiting;
        self.judge(&ready, tell);
    }

    fn is_ready(&self, wall: Wall) -> bool {
        let told = wall.row().probe.runs.iter().all(|run| self.evidence.runs.contains_key(run));
        told && looks::complete(wall, &self.evidence.outside)
    }

    fn judge(&mut self, walls: &[Wall], tell: &mut Tell<'_>) {
        for &wall in walls {
            let finding = Finding::new(wall, (wall.row().probe.judge)(&self.evidence));
            tell(Event::Judged(&finding));
            self.findings.insert(wall, finding);
        }
    }

    /// A wall of which something is missing still gets its judgement: that nobody can say.
    fn finish(mut self, tell: &mut Tell<'_>) -> Vec<Finding> {
        let waiting = std::mem::take(&mut self.waiting);
        self.judge(&waiting, tell);
        self.order.walls.iter().filter_map(|wall| self.findings.get(wall).cloned()).collect()
    }
}
