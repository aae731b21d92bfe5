//! On the stand-in: whose containers go, and whose stay.

use serde_json::{Value, json};

use super::{EXPIRED, dead_owner, in_an_hour, labels, live_owner, name, reused_owner};
use crate::support::{Answer, Cli, Daemon, Das, Listing, Running, Scenario, StandIn, Stop};

const IMAGE: &str = "python:3.12-slim";

fn docker_run<'a>(stand_in: &'a StandIn, name: &str, labels: &[String]) -> Running<'a> {
    let flags = ["run", "--rm", "-i", "--name", name, "--pull", "never", "--network", "none"];
    let docker = Cli::docker(stand_in).args(flags).args(labels.iter().cloned());
    docker.args([IMAGE, "python", "-I", "-"]).spawn()
}

/// A container with these labels whose client is gone.
fn left<'a>(stand_in: &'a StandIn, name: &str, phase: &str, labels: &[String]) -> Running<'a> {
    let program = Scenario::program_that_never_reads;
    stand_in.play(match phase {
        "created" => program().never_starts(),
        _ => program().runs_until_killed(),
    });
    let running = docker_run(stand_in, name, labels);
    stand_in.wait_for_container(name, phase);
    running
}

fn sweep<'a>(stand_in: &'a StandIn, args: &[&str]) -> Das<'a> {
    Das::new(stand_in).arg("sweep").args(args.iter().copied())
}

fn row(swept: &Value, name: &str) -> Value {
    let rows = swept.as_array().expect("a JSON array");
    let mut row = rows.iter().find(|row| row["container"] == name).expect("its row").clone();
    assert!(row["id"].take().as_str().is_some_and(|id| id.len() == 64));
    row
}

#[test]
fn an_engine_without_containers_of_das_needs_no_sweep() {
    let stand_in = StandIn::new();
    sweep(&stand_in, &[]).stdout("nothing was left behind\n").status(0);
    sweep(&stand_in, &["--json"]).stdout("[]\n").status(0);
}

#[test]
fn what_a_dead_owner_left_goes_in_every_state_and_a_live_siblings_stays() {
    let stand_in = StandIn::new();
    let (dead, live) = (labels(&dead_owner(), &in_an_hour()), labels(&live_owner(), EXPIRED));
    let names = [name(), name(), name(), name()];
    let _clients = [
        left(&stand_in, &names[0], "created", &dead),
        left(&stand_in, &names[1], "running", &dead),
        left(&stand_in, &names[2], "created", &live),
        left(&stand_in, &names[3], "running", &live),
    ];
    let finished = sweep(&stand_in, &[]).output();
    assert_eq!((finished.code(), finished.stderr_text()), (Some(0), String::new()));
    let said = finished.stdout_text();
    for (name, line) in names.iter().zip(["removed", "removed", "kept", "kept"]) {
        let why = if line == "kept" { "its das lives" } else { "its das is gone" };
        assert!(said.contains(&format!("{line} {name}: {why}\n")), "{said}");
    }
    let mut expected = names[2..].to_vec();
    expected.sort();
    assert_eq!(stand_in.containers_left(), expected);
}

#[test]
fn a_dry_run_tells_and_removes_nothing() {
    let stand_in = StandIn::new();
    let name = name();
    let _client = left(&stand_in, &name, "running", &labels(&reused_owner(), EXPIRED));
    sweep(&stand_in, &["--dry-run"])
        .stdout(format!("would remove {name}: its das is gone\n"))
        .status(0);
    assert_eq!(stand_in.containers_left(), [name]);
    assert!(stand_in.calls_of("rm").is_empty());
}

#[test]
fn owners_elsewhere_nobody_and_garbage_are_judged_by_the_expiry() {
    let stand_in = StandIn::new();
    let other_boot = "0123456789ab.4026531836.1.1";
    let cases = [
        (other_boot, in_an_hour(), "running", "kept", "not_expired"),
        (other_boot, EXPIRED.to_owned(), "running", "removed", "expired"),
        ("nobody", EXPIRED.to_owned(), "running", "kept", "pasted"),
        ("nobody", EXPIRED.to_owned(), "created", "removed", "expired"),
        ("root; rm -rf /", "soon".to_owned(), "created", "kept", "no_expiry"),
        ("--privileged", EXPIRED.to_owned(), "running", "removed", "expired"),
    ];
    let names = cases.each_ref().map(|_| name());
    let clients = cases.iter().zip(&names);
    let _clients: Vec<Running<'_>> = clients
        .map(|((owner, expires, phase, ..), name)| {
            left(&stand_in, name, phase, &labels(owner, expires))
        })
        .collect();
    let swept: Value =
        serde_json::from_str(&sweep(&stand_in, &["--json"]).output().stdout_text()).unwrap();
    for ((owner, _, state, action, reason), name) in cases.iter().zip(&names) {
        let expected = json!({"container": name, "id": null, "state": state, "action": action,
            "reason": reason, "error": null});
        assert_eq!(row(&swept, name), expected, "{owner}");
    }
}

#[test]
fn a_container_that_only_inherits_the_labels_is_left_alone() {
    let stand_in = StandIn::new();
    let _client = left(&stand_in, "database", "running", &labels(&dead_owner(), EXPIRED));
    sweep(&stand_in, &[])
        .stdout("nothing was left behind\n")
        .stderr(
            "[sandbox] warning: 1 containers with das's label are not das's; they were left alone\n",
        )
        .status(0);
    assert_eq!(stand_in.containers_left(), ["database"]);
}

#[test]
fn an_engine_that_cannot_be_asked_is_said_to_be_so() {
    let stand_in = StandIn::playing(Scenario::nothing().daemon(Daemon::Down));
    let finished = sweep(&stand_in, &[]).output();
    assert_eq!((finished.code(), finished.stdout_text()), (Some(125), String::new()));
    let said = finished.stderr_text();
    assert!(said.starts_with("error: nothing was swept\n  caused by: the engine lists"), "{said}");
}

#[test]
fn an_engine_that_lists_garbage_has_nothing_removed() {
    let stand_in = StandIn::playing(Scenario::nothing().ps(Listing::Garbage));
    assert_eq!(sweep(&stand_in, &[]).output().code(), Some(0));
    assert!(stand_in.calls_of("rm").is_empty());
}

#[test]
fn what_cannot_be_removed_is_said_and_an_engine_that_hangs_is_asked_once() {
    let stand_in = StandIn::new();
    let names = [name(), name()];
    let owner = labels(&dead_owner(), EXPIRED);
    let _clients = names.each_ref().map(|name| left(&stand_in, name, "running", &owner));
    stand_in.play(Scenario::nothing().rm(Stop::Answers(Answer::failure(1, "no\u{1b}[2J way\n"))));
    let refused = sweep(&stand_in, &[]).output();
    assert_eq!(refused.code(), Some(1));
    let said = refused.stdout_text();
    assert!(said.contains(": its das is gone; no\\x1b[2J way\n"), "{said}");

    stand_in.play(Scenario::nothing().rm(Stop::Hangs));
    let before = stand_in.calls_of("rm").len();
    assert_eq!(sweep(&stand_in, &[]).output().code(), Some(1));
    assert_eq!(stand_in.calls_of("rm").len(), before + 1);
}

#[test]
fn das_run_sweeps_while_its_program_runs() {
    let stand_in = StandIn::new();
    let (dead, live) = (name(), name());
    let _clients = [
        left(&stand_in, &dead, "running", &labels(&dead_owner(), EXPIRED)),
        left(&stand_in, &live, "running", &labels(&live_owner(), EXPIRED)),
    ];
    stand_in.play(Scenario::program().waits_for(crate::support::Trigger::file("go")).exits(0));
    let call = Das::new(&stand_in).args(["run", "-q", "-c", "x"]);
    let running = call.spawn();
    stand_in.eventually("the sweep", || stand_in.container_phase(&dead).is_none().then_some(()));
    stand_in.trigger("go");
    assert_eq!(running.wait().code(), Some(0));
    assert_eq!(stand_in.containers_left(), [live]);
}
