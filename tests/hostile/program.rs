//! A hostile program and what its first lines say of its end.
//!
//! They are comments: `flags:`, the flags of `das run` that it needs; `ends:`, a verdict with the
//! exit code of an error, or several with ` or ` between; `prints:`, its last line on stdout;
//! `bytes:`, how many bytes it writes to stdout.

use std::fs;
use std::path::Path;

use docker_agent_sandbox::outcome::VERDICTS;
use serde_json::Value;

use crate::support::Finished;

/// A verdict, and an exit code where the program has one of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub(super) verdict: String,
    pub(super) exit_code: Option<u64>,
}

#[derive(Debug, Clone)]
pub(super) struct Program {
    path: String,
    pub(super) flags: Vec<String>,
    pub(super) ends: Vec<End>,
    prints: Option<String>,
    bytes: Option<u64>,
}

/// The object that `das run --json` printed, if it printed one.
pub(super) fn outcome(stdout: &[u8]) -> Option<Value> {
    serde_json::from_slice(stdout).ok()
}

/// What is wrong with the way in which das itself ended.
pub(super) fn objection_to_exit(outcome: &Value, das: &Finished) -> Option<String> {
    let expected = End::of(outcome).exit_of_das();
    (das.code() != Some(expected))
        .then(|| format!("das exited with {:?} instead of {expected}", das.status))
}

impl Program {
    /// Every program of a folder.
    pub(super) fn all_of(folder: &str) -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/programs");
        let files = root.join(folder).read_dir().expect("a folder of programs");
        let mut paths: Vec<String> = files
            .map(|file| file.expect("a readable folder").path())
            .map(|path| path.into_os_string().into_string().expect("a plain path"))
            .collect();
        paths.sort();
        paths
            .iter()
            .map(|path| Self::parse(path, &fs::read_to_string(path).expect("a text")))
            .collect()
    }

    pub(super) fn parse(path: &str, text: &str) -> Self {
        let said = |key: &str| {
            let lines = text.lines().map(|line| line.trim_start_matches(['#', '/', ' ']));
            let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            values.next().map(str::to_owned)
        };
        let ends = said("ends").unwrap_or_else(|| panic!("{path} does not say how it ends"));
        Self {
            path: path.to_owned(),
            flags: said("flags")
                .map(|flags| flags.split(' ').map(str::to_owned).collect())
                .unwrap_or_default(),
            ends: ends.split(" or ").map(End::parse).collect(),
            prints: said("prints"),
            bytes: said("bytes").map(|bytes| bytes.parse().expect("a number")),
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn name(&self) -> &str {
        self.path.rsplit("/programs/").next().unwrap_or_default()
    }

    /// What is wrong with an outcome, if anything is.
    pub(super) fn objection(&self, outcome: &Value) -> Option<String> {
        if !self.ends.contains(&End::of(outcome)) {
            return Some(format!("expected {:?}, got {outcome:.2000}", self.ends));
        }
        // A tool call does not tell how many there were.
        let bytes = self.bytes.zip(outcome["stdout_bytes"].as_u64());
        if let Some((expected, found)) = bytes.filter(|(expected, found)| expected != found) {
            return Some(format!("expected {expected} bytes, got {found}"));
        }
        let last = outcome["stdout"].as_str().and_then(|text| text.lines().last());
        match &self.prints {
            Some(line) if outcome["truncated"] == false && last != Some(line) => {
                Some(format!("expected `{line}`, got {last:?}"))
            }
            Some(_) | None => None,
        }
    }

    /// The flag's value, if this program needs one of its own.
    pub(super) fn flag(&self, name: &str) -> Option<&str> {
        let at = self.flags.iter().position(|flag| flag == name)?;
        self.flags.get(at + 1).map(String::as_str)
    }
}

impl End {
    fn parse(text: &str) -> Self {
        let (verdict, code) = text.split_once(' ').unwrap_or((text, ""));
        assert!(VERDICTS.iter().any(|(_, name, ..)| *name == verdict), "no verdict `{verdict}`");
        let exit_code = match verdict {
            "success" => Some(0),
            "out_of_memory" => Some(137),
            "error" => Some(code.parse().expect("the exit code of an error")),
            _ => None,
        };
        Self { verdict: verdict.to_owned(), exit_code }
    }

    /// Of a program that ends by itself.
    pub(super) fn of_exit(code: u8) -> Self {
        let verdict = if code == 0 { "success" } else { "error" };
        Self { verdict: verdict.to_owned(), exit_code: Some(code.into()) }
    }

    pub(super) fn of(outcome: &Value) -> Self {
        let verdict = outcome["verdict"].as_str().unwrap_or_default().to_owned();
        // A tool call's result has -1 in place of none.
        Self { verdict, exit_code: outcome["exit_code"].as_u64() }
    }

    /// With what `das run` exits, where no signal ends it.
    pub(super) fn exit_of_das(&self) -> i32 {
        match (self.verdict.as_str(), self.exit_code) {
            ("timeout", _) => 124,
            ("sandbox_error", _) => 125,
            (_, Some(code)) => i32::try_from(code).unwrap_or(-1),
            (_, None) => -1,
        }
    }
}
