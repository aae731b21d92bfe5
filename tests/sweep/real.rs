//! On the machine's own daemon.

use std::process::Stdio;

use docker_agent_sandbox::engine::command::CommandLine;
use docker_agent_sandbox::tag::started;

use super::{EXPIRED, in_an_hour, labels, live_owner, name, owner};
use crate::support::{Das, Real};

/// Removes a container when the test is over.
struct Made<'a>(&'a Real, String);

impl Drop for Made<'_> {
    fn drop(&mut self) {
        self.0.docker().args(["rm", "--force", &self.1]).output();
    }
}

impl<'a> Made<'a> {
    #[track_caller]
    fn new(real: &'a Real, verb: &[&str], name: &str, labels: &[String], program: &str) -> Self {
        let made = real
            .docker()
            .args(verb.iter().copied())
            .args(["--name", name, "--network", "none", "--pull", "never"])
            .args(labels.iter().cloned())
            .args([&Real::shell_image(), "sh", "-c", program])
            .output();
        assert_eq!(made.code(), Some(0), "{}", made.stderr_text());
        Self(real, name.to_owned())
    }
}

#[test]
#[ignore = "needs Docker: what dead owners left is removed in every state, and nothing else is"]
fn what_dead_owners_left_is_removed_in_every_state() {
    let real = Real::new();
    // It lives until all is made: another das on this machine may sweep at any time.
    let line = CommandLine::new("sleep", ["600"]);
    let mut das = line.to_command().stdin(Stdio::null()).spawn().unwrap();
    let started = started(das.id()).unwrap();
    let dead = labels(&owner(das.id(), started), &in_an_hour());
    let (run, create) = (["run", "--detach"], ["create"]);
    let names: Vec<String> = (0..6).map(|_| name()).collect();
    let sleep = "sleep 60";
    // A label of somebody else's that poses as das's own in the text of all labels.
    let mut posing = labels(&live_owner(), EXPIRED);
    posing.extend(["--label".to_owned(), format!("a=b,{}", labels("nobody", EXPIRED)[3])]);
    let _made = [
        Made::new(&real, &run, &names[0], &dead, sleep),
        Made::new(&real, &create, &names[1], &dead, sleep),
        Made::new(&real, &run, &names[2], &dead, "exit 3"),
        Made::new(&real, &run, &names[3], &dead, sleep),
        Made::new(&real, &run, &names[4], &labels(&live_owner(), EXPIRED), sleep),
        Made::new(&real, &run, &names[5], &posing, sleep),
    ];
    assert_eq!(real.docker().args(["pause", &names[3]]).output().code(), Some(0));
    das.kill().unwrap();
    das.wait().unwrap();
    let finished = Das::new(&real).arg("sweep").output();
    let said = finished.stdout_text();
    for name in &names[..4] {
        real.wait_until_gone(name);
        assert!(!said.contains(&format!("kept {name}")), "{said}");
    }
    for name in &names[4..] {
        assert!(said.contains(&format!("kept {name}: its das lives\n")), "{said}");
    }
}
