//! Runs programs and measures them from outside.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use docker_agent_sandbox::engine::command::CommandLine;

/// Every das that was started, for the count of what is left.
static STARTED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// What one execution took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Until the first byte of output.
    pub(crate) first_byte: Duration,
    /// Until the end.
    pub(crate) whole: Duration,
}

/// A command line, its first word the program.
pub(crate) fn command(words: &[String]) -> Command {
    let (program, args) = words.split_first().expect("a command line has a program");
    CommandLine::new(program, args).to_command()
}

/// The das that is measured.
pub(crate) fn das(args: &[&str]) -> Command {
    CommandLine::new(program(), args.iter().copied()).to_command()
}

pub(crate) fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_das"))
}

/// Remembers whose containers are ours.
pub(crate) fn remember(child: &Child) {
    STARTED.lock().expect("nobody panics with it").push(child.id());
}

pub(crate) fn started() -> Vec<u32> {
    STARTED.lock().expect("nobody panics with it").clone()
}

/// Runs a program on an input and reads all that it prints. One that fails is a mistake here.
pub(crate) fn run(mut command: Command, input: &[u8]) -> Sample {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn().expect("a program that can be started");
    remember(&child);
    let mut stdin = child.stdin.take().expect("it was asked for");
    let mut stdout = child.stdout.take().expect("it was asked for");
    let mut first_byte = None;
    thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).expect("a program that reads its input"));
        let mut chunk = vec![0; 64 * 1024];
        while stdout.read(&mut chunk).expect("a readable pipe") > 0 {
            first_byte.get_or_insert_with(|| begun.elapsed());
        }
    });
    let status = child.wait().expect("a child of this process");
    let whole = begun.elapsed();
    assert!(status.success(), "{command:?} failed with {status}");
    Sample { first_byte: first_byte.unwrap_or(whole), whole }
}

/// Runs a program whose output goes nowhere. Returns its time and the most memory it had, in KiB.
pub(crate) fn run_to_nowhere(mut command: Command, input: &[u8]) -> (Duration, u64) {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn().expect("a program that can be started");
    remember(&child);
    let mut stdin = child.stdin.take().expect("it was asked for");
    stdin.write_all(input).expect("a program that reads its input");
    drop(stdin);
    let mut most = 0;
    let status = loop {
        most = most.max(memory(child.id(), "VmHWM"));
        if let Some(status) = child.try_wait().expect("a child of this process") {
            break status;
        }
        thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success(), "{command:?} failed with {status}");
    (begun.elapsed(), most)
}

/// A value of `/proc/PID/status` in KiB; 0 where the process is gone.
pub(crate) fn memory(pid: u32, key: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// What a program prints.
pub(crate) fn output(mut command: Command) -> String {
    let output = command.output().expect("a program that can be started");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
