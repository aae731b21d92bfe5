//! Runs one short external command within a bound, whatever the command does.
//!
//! It knows processes and pipes; it does not know Docker.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use wait_timeout::ChildExt as _;

use crate::threads;

/// The most that is kept of each output stream of a short command: engines are not trusted to be brief.
const KEPT_BYTES: u64 = 1 << 20;

/// How soon it is noticed that a command is not wanted any more.
const STOP_POLL: Duration = Duration::from_millis(100);

/// How long the pipes of an ended command may stay open in the hands of a grandchild.
const LEAK_BOUND: Duration = Duration::from_millis(500);

/// What the environment of an engine's command line differs in from das's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvChanges {
    /// Variables to set, in order.
    pub set: Vec<(OsString, OsString)>,
    /// Variables to remove.
    pub unset: Vec<OsString>,
}

/// A program, its arguments and its environment: enough to spawn it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// What to execute: a path, or a name to look up in `PATH`.
    pub program: PathBuf,
    /// The arguments after the program's name.
    pub args: Vec<OsString>,
    /// How its environment differs from das's own.
    pub env: EnvChanges,
    /// The directory in which it runs; das's own where there is none.
    pub dir: Option<PathBuf>,
}

impl CommandLine {
    /// A command line with das's own environment.
    pub fn new<A: Into<OsString>>(
        program: impl Into<PathBuf>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: EnvChanges::default(),
            dir: None,
        }
    }

    /// The [`Command`] to spawn, in a process group of its own: a terminal's Ctrl-C
    /// must reach das alone, which then decides what to stop and in which order.
    #[expect(clippy::disallowed_methods, reason = "the one place where commands are made")]
    pub fn to_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).process_group(0);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        for name in &self.env.unset {
            command.env_remove(name);
        }
        for (name, value) in &self.env.set {
            command.env(name, value);
        }
        command
    }

    /// Runs the command with an empty standard input and keeps its output.
    pub fn run(&self, bound: Duration) -> Result<Finished, CommandError> {
        self.run_with(Input::Empty, Talk::Captured, bound)
    }

    /// Runs the command to its end, or kills it when `bound` has passed.
    pub fn run_with(
        &self,
        input: Input,
        talk: Talk,
        bound: Duration,
    ) -> Result<Finished, CommandError> {
        self.run_unless(&|| false, input, talk, bound)
    }

    /// The same, and kills it soon after `stopped` has become true.
    pub fn run_unless(
        &self,
        stopped: &dyn Fn() -> bool,
        input: Input,
        talk: Talk,
        bound: Duration,
    ) -> Result<Finished, CommandError> {
        let deadline = Instant::now() + bound;
        let mut child = self.spawn(&input, talk)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let attended = || {
            let fed = stdin.map(|stdin| feed(input, stdin)).transpose()?;
            Ok((stdout.map(drain).transpose()?, stderr.map(drain).transpose()?, fed))
        };
        let (stdout, stderr, fed) = attended().map_err(|source| {
            self.kill(&mut child, CommandError::spawn(self.program.clone(), source))
        })?;
        let status = self.wait(&mut child, stopped, deadline, bound)?;
        if status.success() {
            self.fed(fed)?;
        }
        Ok(Finished { status, stdout: collect(stdout), stderr: collect(stderr) })
    }

    fn spawn(&self, input: &Input, talk: Talk) -> Result<Child, CommandError> {
        let mut command = self.to_command();
        command.stdin(match input {
            Input::Empty => Stdio::null(),
            Input::Written(_) => Stdio::piped(),
        });
        match talk {
            Talk::Captured => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
            Talk::ShownOnStderr => command.stdout(io::stderr()).stderr(io::stderr()),
            Talk::ProgressOnStderr => command.stdout(io::stderr()).stderr(Stdio::piped()),
        };
        if talk != Talk::Captured {
            // A person watches it: the terminal's Ctrl-C ends it together with das.
            command.process_group(rustix::process::getpgrp().as_raw_pid());
        }
        command.spawn().map_err(|source| CommandError::spawn(self.program.clone(), source))
    }

    /// How the feeder ended. A grandchild that keeps the pipe open without reading must not
    /// hold das, so this wait is bounded too; the command itself has ended well by then.
    fn fed(&self, fed: Option<mpsc::Receiver<io::Result<()>>>) -> Result<(), CommandError> {
        let result = fed.map_or(Ok(Ok(())), |fed| fed.recv_timeout(LEAK_BOUND));
        result
            .unwrap_or_else(|_| Err(io::Error::other("the input was not read to its end")))
            .map_err(|source| CommandError::Feed { program: self.program.clone(), source })
    }

    fn wait(
        &self,
        child: &mut Child,
        stopped: &dyn Fn() -> bool,
        deadline: Instant,
        bound: Duration,
    ) -> Result<ExitStatus, CommandError> {
        let program = || self.program.clone();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match child.wait_timeout(left.min(STOP_POLL)) {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if stopped() => {
                    return Err(self.kill(child, CommandError::Stopped { program: program() }));
                }
                Ok(None) if left <= STOP_POLL => {
                    let late = CommandError::TimedOut { program: program(), bound };
                    return Err(self.kill(child, late));
                }
                Ok(None) => {}
                Err(source) => return Err(CommandError::Wait { program: program(), source }),
            }
        }
    }

    /// Kills the command for this reason. It is ours and not yet reaped, so the kill cannot hit
    /// a stranger.
    fn kill(&self, child: &mut Child, reason: CommandError) -> CommandError {
        match child.kill().and_then(|()| child.wait()) {
            Ok(_) => reason,
            Err(source) => CommandError::Wait { program: self.program.clone(), source },
        }
    }
}

/// Writes the whole input of a command.
pub type Writer = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// What a command finds on its standard input.
pub enum Input {
    /// Nothing: end of file at once.
    Empty,
    /// What this function writes; a command that stops reading early is no error of the writer.
    Written(Writer),
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty => "Empty",
            Self::Written(_) => "Written(..)",
        })
    }
}

/// Where a command's output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Talk {
    /// Kept, up to 1 MiB of each stream.
    Captured,
    /// Both streams straight to das's own stderr, for progress that a person watches.
    ShownOnStderr,
    /// Standard output straight to das's own stderr, standard error kept: for a command that shows
    /// its progress on the one and gives its reasons on the other.
    ProgressOnStderr,
}

/// A command that ran to its end.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output, up to 1 MiB.
    pub stdout: Vec<u8>,
    /// Its standard error, up to 1 MiB.
    pub stderr: Vec<u8>,
}

impl Finished {
    /// Whether it ended with 0.
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// Standard output as text, invalid UTF-8 replaced, without the white space around it.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim().to_owned()
    }

    /// Standard error as text, invalid UTF-8 replaced, without the white space around it.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }
}

/// Why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no such program.
    #[error("command not found: `{}`", program.display())]
    NotFound {
        /// The program.
        program: PathBuf,
    },
    /// The system refused to start it.
    #[error("cannot start `{}`", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It was killed, having said nothing final within its bound.
    #[error("`{}` did not answer within {} s", program.display(), bound.as_secs_f64())]
    TimedOut {
        /// The program.
        program: PathBuf,
        /// How long it had.
        bound: Duration,
    },
    /// It was killed because nobody wants its answer any more.
    #[error("`{}` was stopped", program.display())]
    Stopped {
        /// The program.
        program: PathBuf,
    },
    /// The system lost track of it.
    #[error("cannot wait for `{}`", program.display())]
    Wait {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ended well, but without the whole input.
    #[error("cannot write the input of `{}`", program.display())]
    Feed {
        /// The program.
        program: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

impl CommandError {
    /// The error of a failed spawn; a missing program has its own variant, because its fix differs.
    pub fn spawn(program: PathBuf, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            Self::NotFound { program }
        } else {
            Self::Spawn { program, source }
        }
    }
}

/// Writes the input on a thread of its own; a command that stops reading early is no error.
fn feed(
    input: Input,
    stdin: impl Write + Send + 'static,
) -> io::Result<mpsc::Receiver<io::Result<()>>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    threads::spawn("das-feed", move || {
        let mut stdin = stdin;
        let result = match input {
            Input::Empty => Ok(()),
            Input::Written(write) => write(&mut stdin).and_then(|()| stdin.flush()),
        };
        let unread = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        // The sender's fate is the command's: nobody listens where it failed or was killed.
        sender.send(result.or_else(|error| if unread(&error) { Ok(()) } else { Err(error) })).ok();
    })?;
    Ok(receiver)
}

/// Reads a pipe to its end on a thread of its own, keeping the first [`KEPT_BYTES`].
fn drain(pipe: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    threads::spawn("das-drain", move || {
        let mut pipe = pipe;
        let mut kept = Vec::new();
        let read = pipe.by_ref().take(KEPT_BYTES).read_to_end(&mut kept);
        let drained = read.and_then(|_| io::copy(&mut pipe, &mut io::sink()));
        if let Err(error) = drained {
            kept.extend_from_slice(format!("\n(output lost: {error})").as_bytes());
        }
        // A receiver that has given up does not want it any more.
        sender.send(kept).ok();
    })?;
    Ok(receiver)
}

fn collect(receiver: Option<mpsc::Receiver<Vec<u8>>>) -> Vec<u8> {
    // A grandchild that holds the pipe must not hold das: what it keeps open is given up.
    receiver.and_then(|receiver| receiver.recv_timeout(LEAK_BOUND).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> CommandLine {
        CommandLine::new("/bin/sh", ["-c", script])
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn both_streams_and_the_exit_code_come_back() {
        let finished = sh("echo out; echo err >&2; exit 3").run(LONG).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!((finished.out(), finished.err()), ("out".to_owned(), "err".to_owned()));
    }

    #[test]
    fn a_command_that_never_ends_is_killed_at_its_bound() {
        let error = sh("exec sleep 600").run(Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.to_string(), "`/bin/sh` did not answer within 0.05 s");
    }

    #[test]
    fn a_command_that_is_not_wanted_any_more_is_killed_long_before_its_bound() {
        let command = sh("exec sleep 600");
        let error = command.run_unless(&|| true, Input::Empty, Talk::Captured, LONG).unwrap_err();
        assert_eq!(error.to_string(), "`/bin/sh` was stopped");
    }

    #[test]
    fn a_flood_is_drained_and_only_its_beginning_kept() {
        let finished = sh("head -c 3000000 /dev/zero").run(LONG).unwrap();
        assert!(finished.success());
        assert_eq!(finished.stdout.len() as u64, KEPT_BYTES);
    }

    #[test]
    fn a_grandchild_that_keeps_the_pipe_does_not_keep_das() {
        let started = Instant::now();
        let finished = sh("sleep 60 & echo done").run(LONG).unwrap();
        assert!(finished.success());
        assert!(started.elapsed() < LONG, "the wait had no bound");
    }

    #[test]
    fn an_input_that_nobody_reads_is_no_error() {
        let input = Input::Written(Box::new(|out| out.write_all(&vec![b'x'; 1 << 20])));
        assert!(sh("exit 0").run_with(input, Talk::Captured, LONG).unwrap().success());
    }

    #[test]
    fn an_input_that_cannot_be_made_is_an_error_although_the_command_succeeds() {
        let input = Input::Written(Box::new(|_| Err(io::Error::other("no data"))));
        let error = sh("cat").run_with(input, Talk::Captured, LONG).unwrap_err();
        assert_eq!(error.to_string(), "cannot write the input of `/bin/sh`");
    }

    #[test]
    fn a_missing_program_is_told_from_one_that_cannot_start() {
        let missing = CommandLine::new("/nonexistent/docker", ["ps"]).run(LONG).unwrap_err();
        assert!(matches!(missing, CommandError::NotFound { .. }), "{missing:?}");
        let directory = CommandLine::new("/tmp", ["ps"]).run(LONG).unwrap_err();
        assert!(matches!(directory, CommandError::Spawn { .. }), "{directory:?}");
    }
}
