//! What the log says of one run.

use std::path::Path;

use serde::Serialize;

use super::chain::Link;
use crate::names::RuntimeName;
use crate::outcome::{Outcome, Verdict};
use crate::policy::SandboxPolicy;

/// One line of the log. The keys stay in this order, the links of the chain last.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "it is a line of JSON, not a state")]
pub(super) struct Record<'a> {
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
    pub(super) fn new(outcome: &'a Outcome, policy: &'a SandboxPolicy, engine: &'a str) -> Self {
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

/// A record as one line of JSON, with its line feed, at this place of a chain.
pub(super) fn line(record: &impl Serialize, link: &Link) -> Vec<u8> {
    #[derive(Serialize)]
    struct Linked<'a, R> {
        #[serde(flatten)]
        record: &'a R,
        #[serde(flatten)]
        link: &'a Link,
    }
    let mut text = serde_json::to_vec(&Linked { record, link }).expect("a record is plain data");
    text.push(b'\n');
    text
}

/// RFC 3339, UTC, to the millisecond.
pub(super) fn timestamp(at: jiff::Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_rfc_3339_in_utc() {
        let at: jiff::Timestamp = "2026-01-02T03:04:05.678901Z".parse().unwrap();
        assert_eq!(timestamp(at), "2026-01-02T03:04:05.678Z");
        assert_eq!(timestamp(jiff::Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn the_links_of_the_chain_come_last() {
        let record = std::collections::BTreeMap::from([("a", 1), ("z", 2)]);
        let line = line(&record, &Link::first());
        let zeros = "0".repeat(64);
        let expected = format!("{{\"a\":1,\"z\":2,\"seq\":1,\"prev_sha256\":\"{zeros}\"}}\n");
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }
}
