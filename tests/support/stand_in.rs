//! One test's own Docker: a directory with the stand-in CLI, its scenario and its records.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io::ErrorKind;
use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use serde_json::json;
use tempfile::TempDir;

use super::cli::Place;
use super::plain::Daemon;
use super::record::{Ended, Record, file_name};
use super::scenario::Scenario;
use super::wait::eventually;

/// A story has so many of the first calls, and so many of the last.
const SHOWN: usize = 10;

/// A stand-in Docker CLI. When it goes, its processes end. Dropping it fails the test if the
/// stand-in was asked for something that it does not play.
#[derive(Debug)]
pub(crate) struct StandIn {
    home: TempDir,
    bin: PathBuf,
}

/// One recorded call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    record: Record,
    /// The bytes that the call read from its stdin.
    pub(crate) stdin: Vec<u8>,
}

impl StandIn {
    /// A Docker that runs nothing.
    pub(crate) fn new() -> Self {
        let home = TempDir::new().expect("a temporary directory");
        let bin = home.path().join("bin");
        fs::create_dir(&bin).expect("a fresh directory");
        symlink(built_program(), bin.join("docker")).expect("a link in a fresh directory");
        Self { home, bin }.scenario(Scenario::nothing())
    }

    pub(crate) fn playing(scenario: Scenario) -> Self {
        Self::new().scenario(scenario)
    }

    #[must_use]
    pub(crate) fn scenario(self, scenario: Scenario) -> Self {
        self.play(scenario);
        self
    }

    /// Changes the scenario for the calls that start from now on; it counts them anew.
    pub(crate) fn play(&self, scenario: Scenario) {
        let part = self.bin.join("scenario.part");
        fs::write(&part, scenario.into_json().to_string()).expect("a writable directory");
        if let Err(error) = fs::remove_dir_all(self.bin.join("counts")) {
            assert_eq!(error.kind(), ErrorKind::NotFound, "the stand-in's counts: {error}");
        }
        fs::rename(&part, self.bin.join("scenario.json")).expect("a writable directory");
    }

    /// Changes the state of the daemon, as a step of a program does.
    pub(crate) fn daemon_goes(&self, daemon: Daemon) {
        let part = self.bin.join("daemon.part");
        fs::write(&part, json!(daemon).to_string()).expect("a writable directory");
        fs::rename(&part, self.bin.join("daemon.json")).expect("a writable directory");
    }

    /// The same CLI under another engine's name.
    pub(crate) fn also_called(&self, name: &str) -> PathBuf {
        let link = self.bin.join(name);
        symlink(built_program(), &link).expect("a name that is not taken");
        link
    }

    /// The CLI.
    pub(crate) fn path(&self) -> PathBuf {
        self.bin.join("docker")
    }

    /// Where the CLI and its state are.
    pub(crate) fn dir(&self) -> &Path {
        &self.bin
    }

    /// All calls so far, in the order of their starts.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let read = |number| self.call(number);
        (1..).map_while(read).collect()
    }

    pub(crate) fn calls_of(&self, command: &str) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.command() == command).collect()
    }

    pub(crate) fn runs(&self) -> Vec<Call> {
        self.calls_of("run")
    }

    /// The names of the containers that exist, in any state.
    pub(crate) fn containers_left(&self) -> Vec<String> {
        let mut names: Vec<String> = match fs::read_dir(self.bin.join("containers")) {
            Ok(entries) => entries
                .map(|entry| entry.expect("a readable directory").path())
                .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
                .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
                .collect(),
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => panic!("the stand-in's containers: {error}"),
        };
        names.sort();
        names
    }

    /// `created`, `running` or `exited`; `None` where there is no such container.
    pub(crate) fn container_phase(&self, name: &str) -> Option<String> {
        let path = self.bin.join("containers").join(format!("{name}.json"));
        let container: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let phase = &container["phase"];
        phase
            .as_str()
            .or_else(|| phase.as_object()?.keys().next().map(String::as_str))
            .map(str::to_owned)
    }

    /// Lets go on what waits for this file.
    pub(crate) fn trigger(&self, name: &str) {
        fs::write(self.bin.join(name), "").expect("a writable directory");
    }

    /// Waits until a program has come to its step `marks(name)`.
    #[track_caller]
    pub(crate) fn wait_for_mark(&self, name: &str) {
        self.eventually(&format!("the mark `{name}`"), || {
            self.bin.join(name).exists().then_some(())
        });
    }

    /// Waits until the first call of this command has started.
    #[track_caller]
    pub(crate) fn wait_for_call(&self, command: &str) -> Call {
        self.wait_for_calls(command, 1).remove(0)
    }

    /// Waits until so many calls of this command have started.
    #[track_caller]
    pub(crate) fn wait_for_calls(&self, command: &str, count: usize) -> Vec<Call> {
        self.eventually(&format!("{count} calls of `docker {command}`"), || {
            Some(self.calls_of(command)).filter(|calls| calls.len() >= count)
        })
    }

    /// Waits until this container is `created`, `running` or `exited`.
    #[track_caller]
    pub(crate) fn wait_for_container(&self, name: &str, phase: &str) {
        self.eventually(&format!("container `{name}` to be {phase}"), || {
            (self.container_phase(name).as_deref() == Some(phase)).then_some(())
        });
    }

    /// Waits until no process is left that knows this stand-in: no client, no watchdog, nothing
    /// that follows events.
    #[track_caller]
    pub(crate) fn wait_until_no_process_is_left(&self) {
        let dir = self.bin.to_str().expect("a path that is text");
        self.eventually("the last process's end", || processes_of(dir).is_empty().then_some(()));
    }

    /// Waits until no container is left, in any state.
    #[track_caller]
    pub(crate) fn wait_until_empty(&self) {
        self.eventually("the last container's end", || {
            self.containers_left().is_empty().then_some(())
        });
    }

    #[track_caller]
    pub(crate) fn eventually<T>(&self, what: &str, answer: impl FnMut() -> Option<T>) -> T {
        eventually(what, || self, answer)
    }

    /// Takes what the stand-in was asked for and does not play; a test that leaves it fails.
    pub(crate) fn take_unplayed(&self) -> String {
        let path = self.bin.join("unplayed");
        let text = fs::read_to_string(&path).unwrap_or_default();
        if !text.is_empty() {
            fs::remove_file(&path).expect("a writable directory");
        }
        text
    }

    fn call(&self, number: u32) -> Option<Call> {
        let calls = self.bin.join("calls");
        let record = fs::read(calls.join(file_name(number, "json"))).ok()?;
        let record = serde_json::from_slice(&record).expect("a record of the stand-in");
        let stdin = fs::read(calls.join(file_name(number, "stdin"))).unwrap_or_default();
        Some(Call { record, stdin })
    }
}

impl Place for StandIn {
    fn home(&self) -> &Path {
        self.home.path()
    }

    fn environment(&self) -> Vec<(String, String)> {
        vec![("PATH".to_owned(), format!("{}:/usr/bin:/bin", self.bin.display()))]
    }

    fn story(&self) -> String {
        self.to_string()
    }
}

/// The stand-in's side of the story, for failed tests.
impl Display for StandIn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "containers left: {:?}", self.containers_left())?;
        let calls = self.calls();
        let (first, rest) = calls.split_at(calls.len().min(SHOWN));
        let (left_out, last) = rest.split_at(rest.len().saturating_sub(SHOWN));
        first.iter().try_for_each(|call| writeln!(f, "{call}"))?;
        if !left_out.is_empty() {
            writeln!(f, "... {} more", left_out.len())?;
        }
        last.iter().try_for_each(|call| writeln!(f, "{call}"))
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let unplayed = self.take_unplayed();
        // The sign for all processes of the stand-in to end. One of them may be at work in there.
        fs::remove_file(self.bin.join("scenario.json")).expect("the scenario is there");
        let in_use = |error: &std::io::Error| error.kind() == ErrorKind::DirectoryNotEmpty;
        let mut tries = (0..100).map(|_| fs::remove_dir_all(self.home.path()));
        tries.find(|tried| !tried.as_ref().is_err_and(in_use));
        assert!(
            unplayed.is_empty() || thread::panicking(),
            "the stand-in does not play this:\n{unplayed}"
        );
    }
}

impl Call {
    pub(crate) fn command(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    /// All values of a flag that is written as a word of its own.
    pub(crate) fn values(&self, flag: &str) -> Vec<&str> {
        let pairs = self.argv.windows(2).filter(|pair| pair[0] == flag);
        pairs.map(|pair| pair[1].as_str()).collect()
    }

    /// The name that a run gives its container.
    #[track_caller]
    pub(crate) fn container(&self) -> &str {
        self.values("--name").first().expect("a run with a name")
    }
}

impl Deref for Call {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.record
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let end = match &self.ended {
            None => "still running, or killed".to_owned(),
            Some(Ended::Exit(code)) => format!("exit {code}"),
            Some(Ended::Signal(signal)) => format!("signal {signal}"),
            Some(Ended::Unplayed(what)) => format!("not played: {what}"),
        };
        write!(f, "#{} docker {} ({end})", self.number, self.argv.join(" "))
    }
}

/// The processes whose command line names this directory.
fn processes_of(dir: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("a list of the processes");
    let lines = entries.filter_map(|entry| {
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(dir)).collect()
}

/// The compiled stand-in, which `cargo test --test it` alone does not build.
fn built_program() -> PathBuf {
    let das = Path::new(env!("CARGO_BIN_EXE_das"));
    let program = das.with_file_name("examples").join("fake-docker");
    let built = fs::metadata(&program).and_then(|program| program.modified());
    let Ok(built) = built else {
        panic!("`{}` is missing: run `cargo build --examples`", program.display());
    };
    assert!(
        built >= last_change(),
        "`{}` is older than its source: run `cargo build --examples`",
        program.display()
    );
    program
}

fn last_change() -> SystemTime {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fake-docker");
    let files = fs::read_dir(source).expect("the source of the stand-in");
    let changed = |file: std::io::Result<fs::DirEntry>| file?.metadata()?.modified();
    files.map(|file| changed(file).expect("a readable file")).max().expect("a source file")
}
