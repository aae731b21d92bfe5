//! Images that das makes itself, on a real engine.

use std::time::{Duration, Instant};

use docker_agent_sandbox::engine::command::{CommandLine, Input, Talk};
use docker_agent_sandbox::images::offline::{Blueprint, Interpreter};

const BOUND: Duration = Duration::from_secs(300);

fn import(interpreter: Interpreter) -> String {
    let started = Instant::now();
    let blueprint = Blueprint::of(interpreter, std::env::consts::ARCH).unwrap();
    let tag = blueprint.tag();
    println!("{} {} {:?} {:?}", tag, blueprint.entries(), started.elapsed(), blueprint.left_out());
    let changes = blueprint.changes().into_iter().flat_map(|c| ["--change".to_owned(), c]);
    let args =
        ["import".to_owned()].into_iter().chain(changes).chain(["-".to_owned(), tag.clone()]);
    let input = Input::Written(Box::new(move |out| blueprint.write_tar(out)));
    let done = CommandLine::new("docker", args).run_with(input, Talk::Captured, BOUND).unwrap();
    println!("{:?} {} {}", started.elapsed(), done.out(), done.err());
    assert!(done.success());
    tag
}

#[test]
#[ignore = "needs Docker: imports images"]
fn import_all() {
    for interpreter in [Interpreter::Python, Interpreter::Node, Interpreter::Shell] {
        import(interpreter);
    }
}
