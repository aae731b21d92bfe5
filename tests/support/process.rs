//! A program that a test started: its streams as they come, its end within a bound.

use std::fmt::{self, Display, Formatter};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use wait_timeout::ChildExt;

use super::cli::Place;
use super::terminal::Terminal;
use super::wait::eventually;

/// Longer than the product's own bounds, shorter than the stand-in's.
const BOUND: Duration = Duration::from_secs(50);

/// What becomes of a stream of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pipe {
    Read,
    /// Nobody reads it before the test waits for the end.
    Unread,
    /// Nobody ever will.
    Closed,
}

/// A program in progress. Dropping it kills it.
pub(crate) struct Running<'a> {
    child: Child,
    stdin: Option<Box<dyn Write + Send>>,
    stdout: Capture,
    stderr: Capture,
    unread: (Option<ChildStdout>, Option<ChildStderr>),
    command: String,
    place: &'a dyn Place,
}

/// What a program printed, and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// One stream of output, read by a thread of its own.
#[derive(Debug, Clone, Default)]
struct Capture(Arc<Mutex<Captured>>);

#[derive(Debug, Default)]
struct Captured {
    bytes: Vec<u8>,
    open: bool,
}

impl<'a> Running<'a> {
    pub(super) fn new(
        mut child: Child,
        (stdout, stderr): (Pipe, Pipe),
        command: String,
        place: &'a dyn Place,
    ) -> Self {
        let stdin = child.stdin.take();
        let mut running = Self {
            unread: (child.stdout.take(), child.stderr.take()),
            child,
            stdin: stdin.map(|stdin| -> Box<dyn Write + Send> { Box::new(stdin) }),
            stdout: Capture::default(),
            stderr: Capture::default(),
            command,
            place,
        };
        running.open(stdout, stderr);
        running
    }

    /// What a person types is its stdin, and what they see its stdout.
    pub(super) fn on_terminal(
        child: Child,
        terminal: Terminal,
        command: String,
        place: &'a dyn Place,
    ) -> Self {
        let running = Self {
            child,
            stdin: Some(Box::new(terminal.keyboard())),
            stdout: Capture::default(),
            stderr: Capture::default(),
            unread: (None, None),
            command,
            place,
        };
        running.stdout.read(terminal.screen());
        running
    }

    fn open(&mut self, stdout: Pipe, stderr: Pipe) {
        match stdout {
            Pipe::Read => self.unread.0.take().into_iter().for_each(|pipe| self.stdout.read(pipe)),
            Pipe::Closed => drop(self.unread.0.take()),
            Pipe::Unread => {}
        }
        match stderr {
            Pipe::Read => self.unread.1.take().into_iter().for_each(|pipe| self.stderr.read(pipe)),
            Pipe::Closed => drop(self.unread.1.take()),
            Pipe::Unread => {}
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send_signal(&self, signal: Signal) {
        kill_process(self.process(), signal).expect("a process that is not reaped yet");
    }

    /// To the program and its children, as terminals and some clients do.
    pub(crate) fn send_signal_to_group(&self, signal: Signal) {
        kill_process_group(self.process(), signal).expect("a group that is not gone yet");
    }

    /// Writes to its stdin. A program that reads no more is no failure.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().expect("an open stdin");
        ignore_closed_pipe(stdin.write_all(bytes.as_ref()).and_then(|()| stdin.flush()));
    }

    /// Writes all of its stdin, from a thread: the program need not read it.
    pub(crate) fn feed(&mut self, bytes: Vec<u8>) {
        let mut stdin = self.stdin.take().expect("an open stdin");
        thread::spawn(move || ignore_closed_pipe(stdin.write_all(&bytes)));
    }

    pub(crate) fn close_stdin(&mut self) {
        drop(self.stdin.take());
    }

    /// Nobody reads its stdout any more. Only for one that is `Unread` so far.
    pub(crate) fn close_stdout(&mut self) {
        drop(self.unread.0.take().expect("an unread stdout"));
    }

    /// Waits until it has printed this text on stdout.
    #[track_caller]
    pub(crate) fn wait_for_stdout(&self, text: &str) {
        self.wait_for(&self.stdout, "stdout", text);
    }

    #[track_caller]
    pub(crate) fn wait_for_stderr(&self, text: &str) {
        self.wait_for(&self.stderr, "stderr", text);
    }

    /// Waits until it has printed a whole line on stdout that `find` finds.
    #[track_caller]
    pub(crate) fn wait_for_line<T>(&self, what: &str, find: impl Fn(&str) -> Option<T>) -> T {
        let whole_lines = |bytes: &[u8]| {
            let end = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
            String::from_utf8_lossy(&bytes[..end]).lines().find_map(&find)
        };
        eventually(what, || self, || whole_lines(&self.stdout.bytes()))
    }

    /// The output so far.
    pub(crate) fn stdout(&self) -> Vec<u8> {
        self.stdout.bytes()
    }

    /// The bytes so far, on both streams.
    pub(crate) fn output_len(&self) -> usize {
        [&self.stdout, &self.stderr]
            .into_iter()
            .map(|stream| stream.with(|it| it.bytes.len()))
            .sum()
    }

    /// Waits for its exit; others may still hold its pipes.
    #[track_caller]
    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        self.wait_for_exit_within(BOUND)
    }

    #[track_caller]
    fn wait_for_exit_within(&mut self, bound: Duration) -> ExitStatus {
        match self.child.wait_timeout(bound).expect("a child of this process") {
            Some(status) => status,
            None => panic!("still running after {bound:?}\n{self}"),
        }
    }

    /// Whether it can still be sent a signal.
    pub(crate) fn has_not_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child of this process").is_none()
    }

    /// Whether somebody still holds its stdout.
    pub(crate) fn stdout_is_open(&self) -> bool {
        self.stdout.is_open()
    }

    /// Waits for its exit and the end of its output.
    #[track_caller]
    pub(crate) fn wait(self) -> Finished {
        self.wait_at_most(BOUND)
    }

    #[track_caller]
    pub(crate) fn wait_at_most(mut self, bound: Duration) -> Finished {
        self.open(Pipe::Read, Pipe::Read);
        let status = self.wait_for_exit_within(bound);
        eventually(
            "the end of the output of a program that has exited",
            || &self,
            || (!self.stdout.is_open() && !self.stderr.is_open()).then_some(()),
        );
        Finished { status, stdout: self.stdout.bytes(), stderr: self.stderr.bytes() }
    }

    #[track_caller]
    fn wait_for(&self, capture: &Capture, name: &str, text: &str) {
        eventually(
            &format!("`{text}` on {name}"),
            || self,
            || {
                let bytes = capture.bytes();
                String::from_utf8_lossy(&bytes).contains(text).then_some(())
            },
        );
    }

    fn process(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Display for Running<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "command: {}", self.command)?;
        writeln!(f, "stdout: {}", show(&self.stdout.bytes()))?;
        writeln!(f, "stderr: {}", show(&self.stderr.bytes()))?;
        f.write_str(&self.place.story())
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // An error says that it has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Finished {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    pub(crate) fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

impl Capture {
    fn read(&self, mut stream: impl Read + Send + 'static) {
        let reader = self.clone();
        reader.with(|captured| captured.open = true);
        thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                reader.with(|captured| captured.bytes.extend_from_slice(&buffer[..read]));
            }
            reader.with(|captured| captured.open = false);
        });
    }

    fn bytes(&self) -> Vec<u8> {
        self.with(|captured| captured.bytes.clone())
    }

    fn is_open(&self) -> bool {
        self.with(|captured| captured.open)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Captured) -> T) -> T {
        act(&mut self.0.lock().expect("no reader panics"))
    }
}

/// For people: text as it is, a flood shortened.
pub(super) fn show(bytes: &[u8]) -> String {
    const SHOWN: usize = 4096;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned();
    if bytes.len() > SHOWN { format!("{text}\n... of {} bytes", bytes.len()) } else { text }
}

fn ignore_closed_pipe(written: std::io::Result<()>) {
    if let Err(error) = written {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "a write to a pipe: {error}");
    }
}
