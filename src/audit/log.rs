//! Writes the log: opens it before a run, and adds its record after it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, OFlags, fallocate};
use serde::Serialize;

use super::chain::{Tail, TailError};
use super::record::{self, Record};
use crate::outcome::Outcome;
use crate::policy::SandboxPolicy;

/// The room that is reserved for a record.
const RESERVED_BYTES: u64 = 16 * 1024;

/// How long other processes may keep the log locked. Nobody writes for long, so whoever does has
/// stopped in the middle, or means to keep das from recording.
const LOCK_BOUND: Duration = Duration::from_secs(5);

/// The longest pause between two attempts to get hold of it.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

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
    /// It is something else than a log of das.
    #[error("`{}` is not an audit log: it holds something else", path.display())]
    Foreign {
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

    /// Makes sure that a run can be recorded: opens the file, finds where its chain goes on, and
    /// reserves room for a record. The file is opened anew for each run, so that a rotated log is
    /// written on in its new file.
    pub fn prepare(&self) -> Result<Pending, AuditError> {
        let pending = self.open()?;
        let tail = pending.locked(Tail::read)?;
        tail.map_err(|error| self.tail_error(error))?;
        let length = pending.file.metadata().map_err(|source| self.write_error(source))?.len();
        reserve(&pending.file, length).map_err(|source| self.write_error(source))?;
        Ok(pending)
    }

    fn open(&self) -> Result<Pending, AuditError> {
        let open = |source| AuditError::Open { path: self.path.clone(), source };
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            // Somebody else's link must not choose what das writes to; a pipe must not block it.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(&self.path)
            .map_err(open)?;
        if !file.metadata().map_err(open)?.is_file() {
            return Err(AuditError::NotAFile { path: self.path.clone() });
        }
        Ok(Pending { file, log: self.clone() })
    }

    fn write_error(&self, source: io::Error) -> AuditError {
        AuditError::Write { path: self.path.clone(), source }
    }

    fn tail_error(&self, error: TailError) -> AuditError {
        match error {
            TailError::Io(source) => AuditError::Open { path: self.path.clone(), source },
            TailError::NoRecord => AuditError::Foreign { path: self.path.clone() },
        }
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

/// A record that will be written when its run is over.
#[derive(Debug)]
pub struct Pending {
    file: File,
    log: AuditLog,
}

impl Pending {
    /// Writes the record of a run: one line, whole, under a lock.
    pub fn write(
        self,
        outcome: &Outcome,
        policy: &SandboxPolicy,
        engine: &str,
    ) -> Result<(), AuditError> {
        self.write_record(&Record::new(outcome, policy, engine))
    }

    pub(super) fn write_record(self, record: &impl Serialize) -> Result<(), AuditError> {
        let pending = self.current();
        pending.locked(|file| append(file, record))?.map_err(|error| match error {
            TailError::Io(source) => pending.log.write_error(source),
            TailError::NoRecord => pending.log.tail_error(error),
        })
    }

    /// The file that has the log's name now: it may have been renamed during the run, and the
    /// record belongs where the next reader looks. Where there can be no new file, the old one
    /// takes it.
    fn current(self) -> Self {
        let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let (mine, named) =
            (self.file.metadata().map(id), self.log.path.symlink_metadata().map(id));
        match (mine, named) {
            (Ok(mine), Ok(named)) if mine == named => self,
            _ => self.log.open().unwrap_or(self),
        }
    }

    /// Does something while no other process writes.
    fn locked<T>(&self, act: impl FnOnce(&File) -> T) -> Result<T, AuditError> {
        let until = Instant::now() + LOCK_BOUND;
        let mut pause = Duration::from_millis(1);
        loop {
            match self.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(pause),
                Err(TryLockError::WouldBlock) => {
                    let held = io::Error::other("another process keeps it locked");
                    return Err(self.log.write_error(held));
                }
                Err(TryLockError::Error(source)) => return Err(self.log.write_error(source)),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        let result = act(&self.file);
        self.file.unlock().map_err(|source| self.log.write_error(source))?;
        Ok(result)
    }
}

/// Adds a record under the lock. A line that a power cut tore is ended first and kept as it is. A
/// write that fails half-way is taken back, so that the next record finds whole lines.
fn append(mut file: &File, record: &impl Serialize) -> Result<(), TailError> {
    let length = file.metadata()?.len();
    let Tail { next, torn } = Tail::read(file)?;
    let mut bytes = if torn { vec![b'\n'] } else { Vec::new() };
    bytes.extend_from_slice(&record::line(record, &next));
    let written = file.write_all(&bytes);
    if written.is_err() {
        // A file that can only grow keeps the torn line, which the next record finds.
        file.set_len(length).ok();
    }
    Ok(written?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Findings, Verifier};
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn add(path: &Path, word: &str) {
        let pending = AuditLog::new(path).prepare().unwrap();
        pending.write_record(&BTreeMap::from([("word", word)])).unwrap();
    }

    fn verify(path: &Path) -> Findings {
        Verifier::default().read(File::open(path).unwrap()).unwrap()
    }

    #[test]
    fn a_new_log_is_its_owners_alone_and_empty_until_a_run_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        AuditLog::new(&path).prepare().unwrap();
        let metadata = fs::metadata(&path).unwrap();
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

    #[test]
    fn a_file_that_is_no_log_is_refused_before_anything_runs_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let data = vec![b'x'; 200_000];
        fs::write(&path, &data).unwrap();
        let error = AuditLog::new(&path).prepare().unwrap_err();
        assert!(matches!(error, AuditError::Foreign { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), data);
    }

    #[test]
    fn threads_that_write_at_once_make_one_chain() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || (0..20).for_each(|n| add(path, &format!("{writer}.{n}"))));
            }
        });
        let findings = verify(&path);
        assert_eq!((findings.lines, findings.is_whole()), (160, true), "{findings:?}");
    }

    #[test]
    fn a_torn_last_line_is_kept_on_a_line_of_its_own_and_continued_after() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        (0..3).for_each(|n| add(&path, &n.to_string()));
        let whole = fs::read(&path).unwrap();
        let third = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
        for cut in third + 1..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            add(&path, "after");
            let log = fs::read(&path).unwrap();
            assert_eq!((&log[..cut], log[cut]), (&whole[..cut], b'\n'), "cut at {cut}");
            let findings = verify(&path);
            assert!(findings.is_whole(), "cut at {cut}: {findings:?}");
            // Only the line feed was missing: then the line is a record after all.
            let torn = if cut == whole.len() - 1 { vec![] } else { vec![3] };
            assert_eq!((findings.lines, findings.torn), (4, torn), "cut at {cut}");
        }
    }

    #[test]
    fn a_log_that_was_renamed_during_a_run_is_continued_in_a_new_file() {
        let dir = tempfile::tempdir().unwrap();
        let (path, old) = (dir.path().join("log"), dir.path().join("log.1"));
        add(&path, "old");
        let pending = AuditLog::new(&path).prepare().unwrap();
        fs::rename(&path, &old).unwrap();
        pending.write_record(&BTreeMap::from([("word", "new")])).unwrap();
        add(&path, "newer");
        assert_eq!((verify(&old).lines, verify(&path).lines), (1, 2));
        assert!(verify(&old).is_whole() && verify(&path).is_whole());
    }

    #[test]
    fn a_renamed_log_takes_the_record_itself_where_no_new_one_can_be_made() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let pending = AuditLog::new(&path).prepare().unwrap();
        let old = dir.path().join("log.1");
        fs::rename(&path, &old).unwrap();
        fs::create_dir(&path).unwrap();
        pending.write_record(&BTreeMap::from([("word", "kept")])).unwrap();
        assert_eq!(verify(&old).lines, 1);
    }
}
