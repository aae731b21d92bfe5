//! The state directory: found from the program's own name, locked for every change, and the
//! stand-in's reason to live: when it goes, every process of the stand-in ends.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Signal, getpid, kill_process};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::scenario::{Daemon, Scenario, Trigger};

/// No process of the stand-in lives longer.
const BOUND: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(5);
const GUARD_POLL: Duration = Duration::from_millis(100);

/// The directory that all calls of one test share.
#[derive(Debug, Clone)]
pub(crate) struct State {
    dir: PathBuf,
    born: Instant,
}

/// Held while files are changed that belong together.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl State {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, born: Instant::now() }
    }

    /// The state is where the program is, as it was called: through the test's link.
    pub(crate) fn of_program(name: &OsStr, search: Option<&OsStr>) -> Option<Self> {
        let name = Path::new(name);
        let called = if name.components().count() > 1 {
            Some(name.to_path_buf())
        } else {
            std::env::split_paths(search?).map(|dir| dir.join(name)).find(|path| path.exists())
        };
        Some(Self::new(called?.parent()?.to_path_buf()))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The path of a file in one of the stand-in's own directories, which is made if need be.
    pub(crate) fn file(&self, kind: &str, name: &str) -> Result<PathBuf, Failure> {
        let dir = self.dir.join(kind);
        match fs::create_dir(&dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(self.failure(&dir, error))
            }
            Ok(()) | Err(_) => Ok(dir.join(name)),
        }
    }

    pub(crate) fn lock(&self) -> Result<Lock, Failure> {
        let path = self.dir.join("lock");
        let file = File::create(&path).map_err(|error| self.failure(&path, error))?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(|error| self.failure(&path, error.into()))?;
        Ok(Lock { _file: file })
    }

    pub(crate) fn scenario(&self) -> Result<Scenario, Failure> {
        let scenario = self.read(&self.scenario_file())?;
        scenario.ok_or_else(|| Failure::Vanished(self.dir.clone()))
    }

    /// The daemon's state: the scenario's, until a step changed it.
    pub(crate) fn daemon(&self, scenario: &Scenario) -> Result<Daemon, Failure> {
        Ok(self.read(&self.dir.join("daemon.json"))?.unwrap_or(scenario.daemon))
    }

    pub(crate) fn set_daemon(&self, daemon: Daemon) -> Result<(), Failure> {
        self.write(&self.dir.join("daemon.json"), &daemon)
    }

    /// Counts up and returns how often `what` was counted before.
    pub(crate) fn count(&self, kind: &str, what: &str) -> Result<u32, Failure> {
        let path = self.file(kind, what)?;
        let _lock = self.lock()?;
        let before = self.read(&path)?.unwrap_or(0);
        self.write(&path, &(before + 1))?;
        Ok(before)
    }

    pub(crate) fn mark(&self, name: &str) -> Result<(), Failure> {
        self.write(&self.dir.join(name), &())
    }

    pub(crate) fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, Failure> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| Failure::Unplayed(format!("{}: {error}", path.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failure(path, error)),
        }
    }

    /// Writes a whole file or nothing: readers need no lock.
    pub(crate) fn write<T: Serialize>(&self, path: &Path, value: &T) -> Result<(), Failure> {
        let bytes = serde_json::to_vec(value)
            .map_err(|error| Failure::Unplayed(format!("{}: {error}", path.display())))?;
        let part = path.with_extension(format!("part-{}", std::process::id()));
        fs::write(&part, bytes)
            .and_then(|()| fs::rename(&part, path))
            .map_err(|error| self.failure(path, error))
    }

    /// Polls until there is an answer, the state directory is gone, or the bound is reached.
    pub(crate) fn wait<T>(
        &self,
        mut answer: impl FnMut() -> Result<Option<T>, Failure>,
    ) -> Result<T, Failure> {
        loop {
            if let Some(answer) = answer()? {
                return Ok(answer);
            }
            self.still_wanted()?;
            thread::sleep(POLL);
        }
    }

    pub(crate) fn wait_for(&self, trigger: &Trigger) -> Result<(), Failure> {
        match trigger {
            Trigger::Millis(millis) => {
                let end = Instant::now() + Duration::from_millis(*millis);
                self.wait(|| Ok((Instant::now() >= end).then_some(())))
            }
            Trigger::File(name) => {
                let path = self.dir.join(name);
                self.wait(|| Ok(path.exists().then_some(())))
            }
        }
    }

    /// Never returns before the state is gone or the bound is reached.
    pub(crate) fn hang<T>(&self) -> Result<T, Failure> {
        self.wait(|| Ok(None))
    }

    /// Ends this process when the test is over or the bound is reached, whatever it is blocked in.
    pub(crate) fn guard(&self) {
        let state = self.clone();
        thread::spawn(move || {
            while state.still_wanted().is_ok() {
                thread::sleep(GUARD_POLL);
            }
            // Time for what polls by itself, and can say why it ends.
            thread::sleep(GUARD_POLL);
            kill_process(getpid(), Signal::KILL)
        });
    }

    pub(crate) fn still_wanted(&self) -> Result<(), Failure> {
        if !self.scenario_file().exists() {
            return Err(Failure::Vanished(self.dir.clone()));
        }
        if self.born.elapsed() > BOUND {
            return Err(Failure::Bound(BOUND));
        }
        Ok(())
    }

    pub(crate) fn failure(&self, path: &Path, error: io::Error) -> Failure {
        if self.scenario_file().exists() {
            Failure::Io(path.to_path_buf(), error)
        } else {
            Failure::Vanished(self.dir.clone())
        }
    }

    fn scenario_file(&self) -> PathBuf {
        self.dir.join("scenario.json")
    }
}
