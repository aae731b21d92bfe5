//! What the stand-in writes down of each call, for the tests to read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One call of the stand-in. Its stdin is in a file beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// The order of the starts, from 1.
    pub(crate) number: u32,
    /// The arguments, without the program's own name.
    pub(crate) argv: Vec<String>,
    /// The variables that change what a Docker CLI does: `DOCKER_*` and all proxies.
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) pid: i32,
    pub(crate) process_group: i32,
    pub(crate) cwd: String,
    /// The signals that the client was sent and outlived.
    pub(crate) signals: Vec<i32>,
    /// What came on stdin, where that is a tar archive.
    pub(crate) tar: Option<Tar>,
    /// `None` while the call goes on, and for ever if it was killed.
    pub(crate) ended: Option<Ended>,
}

/// How a call ended by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ended {
    Exit(u8),
    /// The client killed itself with this signal, as the scenario wants.
    Signal(i32),
    /// The stand-in does not play this: the test is wrong.
    Unplayed(String),
}

/// A tar archive, as far as tests ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tar {
    pub(crate) bytes: u64,
    /// Lower-case hexadecimal.
    pub(crate) sha256: String,
    pub(crate) entries: Vec<String>,
}

/// The name of a call's record, or of the file with its stdin.
pub(crate) fn file_name(number: u32, ending: &str) -> String {
    format!("{number:05}.{ending}")
}
