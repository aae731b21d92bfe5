//! `das`, or the stand-in itself, as a user calls it: with a clean environment, and with every
//! byte that it prints compared.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Once};

use std::os::unix::process::CommandExt;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::process::{Finished, Pipe, Running, show};
use super::redact::redact;
use super::stand_in::StandIn;
use super::terminal::Terminal;

/// `Das::new(&stand_in)` runs the real `das`.
pub(crate) type Das<'a> = Cli<'a>;

/// Where programs run: which home, which programs they find, and what there is to tell when a
/// test fails.
pub(crate) trait Place {
    fn home(&self) -> &Path;
    /// All variables but `HOME`.
    fn environment(&self) -> Vec<(String, String)>;
    fn story(&self) -> String;
}

/// A command line with what is expected of it: by default nothing on stdout and on stderr.
#[must_use]
pub(crate) struct Cli<'a> {
    place: &'a dyn Place,
    program: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    dir: PathBuf,
    stdin: Vec<u8>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    pipes: (Pipe, Pipe),
}

impl<'a> Cli<'a> {
    /// The real `das`, in a place of its own.
    pub(crate) fn new(place: &'a dyn Place) -> Self {
        Self::program(place, Path::new(env!("CARGO_BIN_EXE_das")))
    }

    /// The stand-in Docker CLI.
    pub(crate) fn docker(stand_in: &'a StandIn) -> Self {
        Self::program(stand_in, &stand_in.path())
    }

    pub(crate) fn program(place: &'a dyn Place, program: &Path) -> Self {
        Self {
            place,
            program: program.to_path_buf(),
            args: Vec::new(),
            env: Vec::new(),
            dir: place.home().to_path_buf(),
            stdin: Vec::new(),
            stdout: Vec::new(),
            stderr: Vec::new(),
            pipes: (Pipe::Read, Pipe::Read),
        }
    }

    pub(crate) fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args<T: Into<String>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Another program with these arguments starts it.
    pub(crate) fn run_by(mut self, program: &str, args: &[&str]) -> Self {
        let own = self.program.into_os_string().into_string().expect("a plain path");
        let words = args.iter().map(|word| (*word).to_owned()).chain([own]);
        self.args.splice(0..0, words);
        self.program = PathBuf::from(program);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn current_dir(mut self, dir: &Path) -> Self {
        self.dir = dir.to_path_buf();
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = bytes.as_ref().to_vec();
        self
    }

    /// The whole stdout, redacted.
    pub(crate) fn stdout(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdout = bytes.as_ref().to_vec();
        self
    }

    /// The whole stderr, redacted.
    pub(crate) fn stderr(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stderr = bytes.as_ref().to_vec();
        self
    }

    /// What `spawn` makes of stdout and stderr.
    pub(crate) fn pipes(mut self, stdout: Pipe, stderr: Pipe) -> Self {
        self.pipes = (stdout, stderr);
        self
    }

    /// Runs it and compares all: both streams and the exit code.
    #[track_caller]
    pub(crate) fn status(self, code: i32) -> Finished {
        let finished = self.output();
        let stdout = comparable(&finished.stdout);
        let stderr = comparable(&finished.stderr);
        let expected = (comparable(&self.stdout), comparable(&self.stderr));
        let same =
            (&stdout, &stderr) == (&expected.0, &expected.1) && finished.code() == Some(code);
        assert!(
            same,
            "command: {}\ncwd: {}\nstatus: {} (expected {code})\n{}{}{}",
            self.command_line(),
            self.dir.display(),
            finished.status,
            difference("stdout", &stdout, &expected.0),
            difference("stderr", &stderr, &expected.1),
            self.place.story(),
        );
        finished
    }

    /// Runs it, and compares nothing.
    #[track_caller]
    pub(crate) fn output(&self) -> Finished {
        let mut running = self.spawn();
        running.feed(self.stdin.clone());
        running.wait()
    }

    /// Starts it in a process group of its own. Its stdin stays open, and is the test's to write.
    #[track_caller]
    pub(crate) fn spawn(&self) -> Running<'a> {
        let child = self.started(Stdio::piped);
        Running::new(child, self.pipes, self.command_line(), self.place)
    }

    /// Starts it with a terminal for all three streams: what the terminal shows is its stdout.
    #[track_caller]
    pub(crate) fn spawn_on_terminal(&self) -> Running<'a> {
        let terminal = Terminal::new();
        let child = self.started(|| terminal.program_side());
        Running::on_terminal(child, terminal, self.command_line(), self.place)
    }

    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "tests start programs here and only here")]
    fn started(&self, stdio: impl Fn() -> Stdio) -> Child {
        hear_signals();
        let spawned = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .env("HOME", self.place.home())
            .envs(self.place.environment())
            .envs(self.env.iter().cloned())
            .current_dir(&self.dir)
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .process_group(0)
            .spawn();
        spawned.unwrap_or_else(|error| panic!("cannot start `{}`: {error}", self.command_line()))
    }

    fn command_line(&self) -> String {
        let words = self.args.iter().map(|word| shlex::try_quote(word).expect("no NUL byte"));
        let words: Vec<_> = words.map(std::borrow::Cow::into_owned).collect();
        format!("{} {}", self.program.display(), words.join(" "))
    }
}

/// What starts these tests may have told them to ignore signals, as a shell does in the background,
/// and programs inherit that. What is handled, by dying of it as ever, is not inherited.
fn hear_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::new(true.into()))
                .expect("signals that can be handled");
        }
    });
}

/// Only text is redacted.
fn comparable(bytes: &[u8]) -> Vec<u8> {
    str::from_utf8(bytes).map_or_else(|_| bytes.to_vec(), |text| redact(text).into_bytes())
}

fn difference(stream: &str, found: &[u8], expected: &[u8]) -> String {
    let found_text = show(found);
    if found == expected {
        return format!("{stream}, as expected: {found_text:?}\n");
    }
    format!("{stream}: {found_text:?}\n  expected: {:?}\n", show(expected))
}
