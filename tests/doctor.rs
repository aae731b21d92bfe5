//! `das doctor`: what keeps das from running here, or weakens it.

mod real;
mod states;

use serde_json::Value;

use crate::support::{Cli, Das, StandIn};

/// What the probe prints in a container in which every wall stands.
const INSIDE: &str = "\
    v1.memory 268435456\nv1.swap 268435456\nv1.pids 64\nv1.quota 50000\nv1.period 100000\n\
    status Seccomp:\t2\nlsm docker-default (enforce)\nusers 0 100000 65536\n\
    limits Max open files  256  256  files\nswaps Filename\nend here\n";

/// The report of `das doctor --json`.
struct Told {
    report: Value,
    code: Option<i32>,
}

#[track_caller]
fn doctor(stand_in: &StandIn, args: &[&str]) -> Told {
    told(&Das::new(stand_in).args(["doctor", "--json"]).args(args.iter().copied()))
}

#[track_caller]
fn told(das: &Cli<'_>) -> Told {
    let finished = das.output();
    assert_eq!(finished.stderr_text(), "");
    let report = serde_json::from_slice(&finished.stdout).expect("an object");
    Told { report, code: finished.code() }
}

impl Told {
    /// All findings of a check, each as its state, a colon and what was found.
    #[track_caller]
    fn all(&self, check: &str) -> Vec<String> {
        let findings = self.report["findings"].as_array().expect("findings").iter();
        let of_check = findings.filter(|finding| finding["check"] == check);
        let text = |finding: &Value, key: &str| finding[key].as_str().expect("a text").to_owned();
        of_check.map(|it| format!("{}: {}", text(it, "state"), text(it, "found"))).collect()
    }

    #[track_caller]
    fn one(&self, check: &str) -> String {
        match self.all(check).as_slice() {
            [one] => one.clone(),
            other => panic!("`{check}` has {other:?}"),
        }
    }

    fn usable(&self) -> bool {
        assert_eq!(self.code, Some(i32::from(self.report["usable"] != true)), "{}", self.report);
        self.report["usable"] == true
    }
}
