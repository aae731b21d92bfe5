//! One call: which command it is, and what every command needs.

use std::io::{self, Write};

use rustix::process::Signal;

use crate::failure::Failure;
use crate::journal::Journal;
use crate::record::Ended;
use crate::scenario::{Answer, Run, Scenario};
use crate::state::State;
use crate::store::Store;
use crate::{containers, context, events, facts, images, load, pull, run, stop};

/// A call in progress.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) state: State,
    pub(crate) store: Store,
    pub(crate) scenario: Scenario,
    pub(crate) journal: Journal,
    pub(crate) argv: Vec<String>,
    /// How many calls of the command came before.
    turn: usize,
    /// What a `run` plays.
    pub(crate) rule: Option<Run>,
}

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exit(u8),
    Signal(Signal),
}

impl Call {
    /// All choices are made before the record shows that the call has started: what a test does
    /// after that is for later calls.
    pub(crate) fn open(state: &State, argv: &[String]) -> Result<Self, Failure> {
        let command = argv.first().map_or("", String::as_str);
        let scenario = state.scenario()?;
        let turn = state.count("counts", command)? as usize;
        let rule = if command == "run" { run::choose(state, &scenario, argv)? } else { None };
        Ok(Self {
            state: state.clone(),
            store: Store::new(state),
            journal: Journal::open(state, argv)?,
            scenario,
            argv: argv.to_vec(),
            turn,
            rule,
        })
    }

    pub(crate) fn close(self, ended: Ended) -> Result<(), Failure> {
        self.journal.close(ended)
    }

    pub(crate) fn play(&mut self) -> Result<End, Failure> {
        let argv = self.argv.clone();
        let words: Vec<&str> = argv.iter().map(String::as_str).take(2).collect();
        let answer = match words.as_slice() {
            ["run", ..] => return run::run(self, &argv[1..]),
            ["kill", ..] => stop::kill(self, &argv[1..]),
            ["rm", ..] => stop::rm(self, &argv[1..]),
            ["events", ..] => events::events(self, &argv[1..]),
            ["ps", ..] => containers::ps(self, &argv[1..]),
            ["inspect", ..] => containers::inspect(self, &argv[1..]),
            ["image", "inspect"] => images::inspect(self, &argv[2..]),
            ["image", "ls"] => images::list(self, &argv[2..]),
            ["images", ..] => images::list(self, &argv[1..]),
            ["pull", ..] => pull::pull(self, &argv[1..]),
            ["import", ..] => load::import(self, &argv[1..]),
            ["build", ..] => load::build(self, &argv[1..]),
            ["version", ..] => facts::version(self, &argv[1..]),
            ["info", ..] => facts::info(self, &argv[1..]),
            ["context", ..] => context::context(&argv[1..]),
            _ => Err(Failure::unplayed("unknown command")),
        }?;
        self.print(&answer)
    }

    /// The behaviour for this call of the command: the n-th, or the last.
    pub(crate) fn behaviour<T: Clone + Default>(&self, behaviours: &[T]) -> T {
        behaviours.get(self.turn).or(behaviours.last()).cloned().unwrap_or_default()
    }

    pub(crate) fn print(&self, answer: &Answer) -> Result<End, Failure> {
        let printed = io::stdout()
            .write_all(answer.stdout.as_bytes())
            .and_then(|()| io::stdout().flush())
            .and_then(|()| io::stderr().write_all(answer.stderr.as_bytes()));
        // A closed pipe is no matter to these commands.
        match printed {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(self.state.failure(self.state.dir(), error))
            }
            Ok(()) | Err(_) => Ok(End::Exit(answer.exit)),
        }
    }
}

impl Answer {
    pub(crate) fn ok(stdout: impl Into<String>) -> Self {
        Self { stdout: stdout.into(), ..Self::default() }
    }

    /// The CLI's way to fail: a message and 1.
    pub(crate) fn error(stderr: impl Into<String>) -> Self {
        Self { stderr: format!("{}\n", stderr.into()), exit: 1, ..Self::default() }
    }
}
