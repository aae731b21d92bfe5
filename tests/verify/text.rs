//! What people and CI read of a verification.

use std::time::Duration;

use docker_agent_sandbox::verify::{Finding, Report, State, Subject, junit, table};
use docker_agent_sandbox::walls::Wall;

fn finding(wall: Wall, state: State, evidence: &str) -> Finding {
    Finding { wall, state, evidence: evidence.to_owned() }
}

fn report() -> Report {
    Report {
        subject: Subject {
            language: "python".to_owned(),
            image: "python:3.12-slim".to_owned(),
            engine: "docker 28.2.2".to_owned(),
            runtime: None,
        },
        findings: vec![
            finding(Wall::Network, State::Open, "the policy lets programs reach the network"),
            finding(
                Wall::Filesystem,
                State::Held,
                "create /das-probe: Read-only file system, and more evidence than fits on a line",
            ),
            finding(Wall::NewPrivileges, State::Broken, "NoNewPrivs: 0 <&\"> \u{1b}[2J\u{202e}"),
            finding(Wall::Memory, State::Unknown, "the probe did not finish (timeout)"),
        ],
        duration: Duration::from_millis(2350),
        stopped: None,
    }
}

#[test]
fn the_table_fits_80_columns_and_says_what_does_not_hold() {
    let report = report();
    let mut text = Vec::new();
    table::heading(&report.subject, &mut text).unwrap();
    for finding in &report.findings {
        table::row(finding, &mut text).unwrap();
    }
    table::summary(&report, &mut text).unwrap();
    let text = String::from_utf8(anstream::adapter::strip_bytes(&text).into_vec()).unwrap();
    let expected = r#"python in python:3.12-slim on docker 28.2.2

WALL           STATE    EVIDENCE
network        OPEN     the policy lets programs reach the network
filesystem     HELD     create /das-probe: Read-only file system, and more
                        evidence than fits on a line
new-privileges BROKEN   NoNewPrivs: 0 <&"> \x1b[2J\u{202e}
memory         UNKNOWN  the probe did not finish (timeout)

1 held, 1 open by policy, 1 broken, 1 unknown in 2.35s

new-privileges should have held: A setuid program such as su gives the program
  nothing that it did not have.

memory is not known to hold: A program that takes too much memory dies, files
  in /tmp and /dev/shm counted in, and it gets no swap.
"#;
    assert_eq!(text, expected);
    assert!(text.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn the_junit_file_has_a_case_for_each_wall() {
    let sums = r#"tests="4" failures="1" errors="1" skipped="1" time="2.350""#;
    let name = "python in python:3.12-slim on docker 28.2.2";
    let expected = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="{name}" {sums}>
  <testsuite name="{name}" {sums}>
    <testcase classname="das.walls" name="network">
      <skipped message="the policy lets programs reach the network"/>
    </testcase>
    <testcase classname="das.walls" name="filesystem">
      <system-out>create /das-probe: Read-only file system, and more evidence than fits on a line</system-out>
    </testcase>
    <testcase classname="das.walls" name="new-privileges">
      <failure type="broken" message="NoNewPrivs: 0 &lt;&amp;&quot;&gt; \x1b[2J{}">A setuid program such as su gives the program nothing that it did not have.</failure>
    </testcase>
    <testcase classname="das.walls" name="memory">
      <error type="unknown" message="the probe did not finish (timeout)">A program that takes too much memory dies, files in /tmp and /dev/shm counted in, and it gets no swap.</error>
    </testcase>
  </testsuite>
</testsuites>
"#,
        '\u{202e}'
    );
    assert_eq!(junit::suite(&report()).to_xml(), expected);
}

#[test]
fn the_json_report_says_whether_all_holds_and_why_not() {
    let json = serde_json::to_value(report()).unwrap();
    assert_eq!(json["holds"], false);
    assert_eq!(json["duration_seconds"], 2.35);
    assert_eq!(json["walls"][2]["wall"], "new-privileges");
    assert_eq!(json["walls"][2]["state"], "BROKEN");
}
