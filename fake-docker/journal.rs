//! One call's record: written at the start, kept up to date, closed with how the call ended.

use std::collections::BTreeMap;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;

use rustix::process::{getpgrp, getpid};

use crate::failure::Failure;
use crate::record::{Ended, Record, Tar, file_name};
use crate::state::State;

/// The open record of this call.
#[derive(Debug)]
pub(crate) struct Journal {
    state: State,
    record: Record,
}

impl Journal {
    pub(crate) fn open(state: &State, argv: &[String]) -> Result<Self, Failure> {
        let number = state.count("calls", "number")? + 1;
        let record = Record {
            number,
            argv: argv.to_vec(),
            env: docker_environment(),
            pid: getpid().as_raw_nonzero().get(),
            process_group: getpgrp().as_raw_nonzero().get(),
            cwd: env::current_dir().map(|dir| dir.display().to_string()).unwrap_or_default(),
            signals: Vec::new(),
            tar: None,
            ended: None,
        };
        let journal = Self { state: state.clone(), record };
        journal.save()?;
        Ok(journal)
    }

    pub(crate) fn got_signal(&mut self, signal: i32) -> Result<(), Failure> {
        self.record.signals.push(signal);
        self.save()
    }

    pub(crate) fn got_tar(&mut self, tar: Tar) -> Result<(), Failure> {
        self.record.tar = Some(tar);
        self.save()
    }

    pub(crate) fn close(mut self, ended: Ended) -> Result<(), Failure> {
        if let Ended::Unplayed(what) = &ended {
            self.complain(what)?;
        }
        self.record.ended = Some(ended);
        self.save()
    }

    /// Where the bytes that this call reads from stdin are kept, as they come.
    pub(crate) fn stdin_file(&self) -> Result<File, Failure> {
        let path = self.state.file("calls", &file_name(self.record.number, "stdin"))?;
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        file.map_err(|error| self.state.failure(&path, error))
    }

    fn save(&self) -> Result<(), Failure> {
        let path = self.state.file("calls", &file_name(self.record.number, "json"))?;
        self.state.write(&path, &self.record)
    }

    /// The harness fails every test that leaves something here.
    fn complain(&self, what: &str) -> Result<(), Failure> {
        let path = self.state.dir().join("unplayed");
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(format!("{what}\n").as_bytes()))
            .map_err(|error| self.state.failure(&path, error))
    }
}

fn docker_environment() -> BTreeMap<String, String> {
    env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into(), value.to_string_lossy().into()))
        .filter(|(name, _): &(String, String)| {
            name.starts_with("DOCKER_") || name.to_uppercase().contains("PROXY")
        })
        .collect()
}
