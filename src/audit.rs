//! The audit log: one JSON line for each run, written whole, by any number of processes at once.
//!
//! It knows what a record says. The program itself is kept nowhere, only its SHA-256.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, OFlags, fallocate};
use serde::Serialize;

use crate::names::RuntimeName;
use crate::outcome::{Outcome, Verdict};
use crate::policy::SandboxPolicy;

/// The room that is reserved for a record: no record is longer.
const RESERVED_BYTES: u64 = 16 * 1024;

/// How long other processes may keep the log locked.
const LOCK_BOUND: Duration = Duration::from_secs(2);

/// How long to wait before trying again to lock the log.
const LOCK_POLL: Duration = Duration::from_millis(1);

/// A file to which every run is recorded.
#[derive(Debug, Clone)]
pub struct AuditLog {
    path: PathBuf,
}

/// Why a run cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file cannot be opened.
    #[error("cannot open the audit log `{}`", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a directory, a device or a pipe.
    #[error("the audit log `{}` is not a regular file", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be written.
    #[error("cannot write the audit log `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl AuditLog {
    /// Records to this file, which is made on the first run, readable by its owner alone.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that a run can be recorded: opens the file and reserves room for a record.
    /// The file is opened anew for each run, so that a rotated log is written on in its new file.
    pub fn prepare(&self) -> Result<Pending, AuditError> {
        let open = |source| AuditError::Open { path: self.path.clone(), source };
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            // Somebody else's link must not choose what das writes to; a pipe must not block it.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(&self.path)
            .map_err(open)?;
        let metadata = file.metadata().map_err(open)?;
        if !metadata.is_file() {
            return Err(AuditError::NotAFile { path: self.path.clone() });
        }
        reserve(&file, metadata.len())
            .and_then(|()| lock(&file))
            .and_then(|()| file.unlock())
            .map_err(|source| self.write_error(source))?;
        Ok(Pending { file, log: self.clone() })
    }

    fn write_error(&self, source: io::Error) -> AuditError {
        AuditError::Write { path: self.path.clone(), source }
    }
}

/// Takes disk space beyond the file's end, so that a disk that fills up during the run does not
/// leave the run unrecorded. File systems that cannot do this are written to without.
fn reserve(file: &File, length: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::KEEP_SIZE, length, RESERVED_BYTES) {
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
        result => Ok(result?),
    }
}

/// Waits for its turn. Nobody writes for long, so whoever keeps the log locked has stopped in the
/// middle, or means to keep das from recording.
fn lock(file: &File) -> io::Result<()> {
    let until = Instant::now() + LOCK_BOUND;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() > until => {
                return Err(io::Error::other("another process keeps it locked"));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_POLL),
        }
    }
}

/// A record that will be written when its run is over.
#[derive(Debug)]
pub struct Pending {
    file: File,
    log: AuditLog,
}

impl Pending {
    /// Writes the record of a run: one line, whole, under a lock.
    pub fn write(
        mut self,
        outcome: &Outcome,
        policy: &SandboxPolicy,
        engine: &str,
    ) -> Result<(), AuditError> {
        let mut line = serde_json::to_vec(&Record::new(outcome, policy, engine))
            .expect("a record is plain data");
        line.push(b'\n');
        self.write_line(&line).map_err(|source| self.log.write_error(source))
    }

    fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        lock(&self.file)?;
        let whole = self.file.metadata()?.len();
        let written = self.file.write_all(line).and_then(|()| self.file.flush());
        let written = written.or_else(|error| {
            // The next line must not be run into by half of this one.
            self.file.set_len(whole)?;
            Err(error)
        });
        self.file.unlock()?;
        written
    }
}

/// One line of the log.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "it is a line of JSON, not a state")]
struct Record<'a> {
    timestamp: String,
    language: &'a str,
    image: &'a str,
    code_sha256: &'a str,
    exit_code: Option<i32>,
    verdict: Verdict,
    duration_seconds: f64,
    timed_out: bool,
    truncated: bool,
    network: bool,
    memory_mb: u64,
    cpus: f64,
    pids_limit: u64,
    tmpfs_mb: u64,
    nofile_limit: u64,
    timeout_seconds: f64,
    max_output_bytes: u64,
    user: String,
    work_dir: Option<&'a Path>,
    stdout_bytes: u64,
    stderr_bytes: u64,
    run_id: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    warm: bool,
    runtime: Option<&'a str>,
    engine: &'a str,
}

impl<'a> Record<'a> {
    fn new(outcome: &'a Outcome, policy: &'a SandboxPolicy, engine: &'a str) -> Self {
        Self {
            timestamp: timestamp(jiff::Timestamp::now()),
            language: outcome.language.as_str(),
            image: outcome.image.as_str(),
            code_sha256: &outcome.code_sha256,
            exit_code: outcome.exit_code,
            verdict: outcome.verdict,
            duration_seconds: outcome.duration_seconds(),
            timed_out: outcome.timed_out(),
            truncated: outcome.truncated(),
            network: policy.network,
            memory_mb: policy.memory_mb,
            cpus: policy.cpus,
            pids_limit: policy.pids_limit,
            tmpfs_mb: policy.tmpfs_mb,
            nofile_limit: policy.nofile_limit,
            timeout_seconds: policy.timeout_seconds,
            max_output_bytes: policy.max_output_bytes,
            user: policy.user.to_string(),
            work_dir: policy.work_dir.as_ref().map(|dir| dir.path.as_path()),
            stdout_bytes: outcome.stdout.total(),
            stderr_bytes: outcome.stderr.total(),
            run_id: &outcome.run_id,
            warm: outcome.warm,
            runtime: policy.runtime.as_ref().map(RuntimeName::as_str),
            engine,
        }
    }
}

/// RFC 3339, UTC, to the millisecond.
fn timestamp(at: jiff::Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    #[test]
    fn timestamps_are_rfc_3339_in_utc() {
        let at: jiff::Timestamp = "2026-01-02T03:04:05.678901Z".parse().unwrap();
        assert_eq!(timestamp(at), "2026-01-02T03:04:05.678Z");
        assert_eq!(timestamp(jiff::Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_new_log_is_its_owners_alone_and_empty_until_a_run_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        AuditLog::new(&path).prepare().unwrap();
        let metadata = std::fs::metadata(&path).unwrap();
        assert_eq!((metadata.mode() & 0o777, metadata.len()), (0o600, 0));
    }

    #[test]
    fn a_link_a_directory_a_device_and_a_missing_directory_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink(dir.path().join("target"), &link).unwrap();
        for path in
            [link.as_path(), dir.path(), Path::new("/dev/null"), &dir.path().join("none/log")]
        {
            assert!(AuditLog::new(path).prepare().is_err(), "{}", path.display());
        }
        assert!(!dir.path().join("target").exists(), "the link was followed");
    }
}
