//! Parked containers of the library: a sandbox owns them.

use std::time::{Duration, Instant};

use docker_agent_sandbox::policy::{EngineChoice, SandboxPolicy};
use docker_agent_sandbox::{Request, Sandbox, Verdict};

use crate::support::{Scenario, StandIn};

fn sandbox(stand_in: &StandIn) -> Sandbox {
    let engine = EngineChoice::Path(stand_in.path());
    let policy = SandboxPolicy { engine, warm: 2, ..SandboxPolicy::default() };
    Sandbox::new(policy).expect("a policy that holds").with_parked_containers()
}

fn wait_for_parked(stand_in: &StandIn, count: usize) {
    for run in stand_in.wait_for_calls("run", count) {
        stand_in.wait_for_container(run.container(), "running");
    }
}

fn hello() -> Scenario {
    Scenario::program().acts_on_code(&[("hello", Scenario::program().prints("hello\n").exits(0))])
}

#[test]
fn a_sandbox_gives_its_parked_containers_back_when_it_is_dropped() {
    let stand_in = StandIn::playing(hello());
    let sandbox = sandbox(&stand_in);
    sandbox.expect("python").unwrap();
    wait_for_parked(&stand_in, 2);
    drop(sandbox);
    assert!(stand_in.containers_left().is_empty());
    stand_in.wait_until_no_process_is_left();
}

#[test]
fn a_run_of_a_sandbox_takes_a_parked_container_and_says_so() {
    let stand_in = StandIn::playing(hello());
    let sandbox = sandbox(&stand_in);
    sandbox.expect("python").unwrap();
    wait_for_parked(&stand_in, 2);
    let outcome = sandbox.run(Request::new("python", b"hello")).unwrap();
    assert_eq!((outcome.verdict, outcome.warm), (Verdict::Success, true));
    assert_eq!(outcome.stdout.bytes(), b"hello\n");
}

#[test]
fn a_sandbox_that_has_given_them_back_runs_on_and_parks_no_more() {
    let stand_in = StandIn::playing(hello());
    let sandbox = sandbox(&stand_in);
    sandbox.expect("python").unwrap();
    wait_for_parked(&stand_in, 2);
    sandbox.retire();
    assert!(sandbox.retired_by(Instant::now() + Duration::from_secs(10)));
    let outcome = sandbox.run(Request::new("python", b"hello")).unwrap();
    assert_eq!((outcome.verdict, outcome.warm), (Verdict::Success, false));
    drop(sandbox);
    assert_eq!(stand_in.runs().len(), 3);
}

#[test]
fn a_language_that_the_policy_does_not_offer_is_not_expected() {
    let stand_in = StandIn::new();
    assert!(sandbox(&stand_in).expect("cobol").is_err());
}
