//! The way from the request to the program's start, and what can go wrong on it.

use rustix::process::Signal;
use serde_json::json;

use super::{NAME, actions, docker, kill, run, run_error};
use crate::support::{Answer, Orphan, Scenario, StandIn, Trigger};

const OCI: &str = "Error response from daemon: failed to create shim task: OCI runtime create \
                   failed: ";
const CANNOT_START: &str = "runc create failed: unable to start container process: ";

#[test]
fn a_missing_interpreter_is_127_and_starts_nothing() {
    let stand_in = StandIn::playing(Scenario::program().interpreter_is_missing());
    let text = "exec: \"python\": executable file not found in $PATH: unknown";
    run(&stand_in).stderr(run_error(&format!("{OCI}{CANNOT_START}{text}"))).status(127);
    assert_eq!(actions(&stand_in), ["create", "attach", "destroy"]);
    assert!(stand_in.containers_left().is_empty());
}

#[test]
fn an_interpreter_that_cannot_be_executed_is_126() {
    let stand_in = StandIn::playing(Scenario::program().interpreter_is_not_executable());
    let text = "exec: \"python\": permission denied: unknown";
    run(&stand_in).stderr(run_error(&format!("{OCI}{CANNOT_START}{text}"))).status(126);
    assert_eq!(actions(&stand_in), ["create", "attach", "destroy"]);
}

#[test]
fn a_broken_runtime_has_the_exit_code_of_its_words() {
    let cases = [
        ("crun: mount `proc` to `proc`: permission denied: unknown", 126),
        ("runc: open /proc/self/attr: no such file or directory: unknown", 127),
        ("crun: cannot set memory limit: unknown", 125),
    ];
    for (text, code) in cases {
        let stand_in = StandIn::playing(Scenario::program().has_a_broken_runtime(text));
        run(&stand_in).stderr(run_error(&format!("{OCI}{text}"))).status(code);
        assert_eq!(actions(&stand_in), ["create", "attach", "destroy"]);
    }
}

#[test]
fn an_unknown_runtime_refused_with_and_a_registered_one_is_not() {
    let stand_in = StandIn::playing(Scenario::program());
    let gvisor = |stand_in| {
        let flags = ["run", "--rm", "--name", NAME, "--pull", "never", "--runtime", "runsc", "i:1"];
        docker(stand_in, &flags)
    };
    let text = "Error response from daemon: Unknown runtime specified runsc";
    gvisor(&stand_in).stderr(run_error(text)).status(125);
    assert!(actions(&stand_in).is_empty());

    let path = json!({ "path": "/usr/bin/runsc" });
    stand_in.play(Scenario::program().info(json!({ "Runtimes": { "runsc": path } })));
    gvisor(&stand_in).status(0);
}

#[test]
fn a_name_conflict_ends_when_the_rule_is_used_up() {
    let conflict = Scenario::program().has_a_name_conflict().times(2);
    let stand_in = StandIn::playing(conflict.or(Scenario::program().prints("45\n")));
    for _ in 0..2 {
        let refused = run(&stand_in).output();
        let text = refused.stderr_text();
        assert!(text.starts_with(&format!(
            "docker: Error response from daemon: Conflict. The container name \"/{NAME}\" is \
             already in use by container \""
        )));
        assert!(text.ends_with(
            "\". You have to remove (or rename) that container to be able to reuse that \
             name.\n\nRun 'docker run --help' for more information\n"
        ));
        assert_eq!(refused.code(), Some(125));
    }
    run(&stand_in).stdout("45\n").status(0);
}

#[test]
fn a_name_that_a_container_has_is_a_conflict() {
    let stand_in = StandIn::playing(Scenario::program_that_never_reads().runs_until_killed());
    let first = run(&stand_in).spawn();
    stand_in.wait_for_container(NAME, "running");
    let second = run(&stand_in).output();
    assert!(second.stderr_text().contains("Conflict. The container name"));
    assert_eq!(second.code(), Some(125));
    kill(&stand_in);
    assert_eq!(first.wait().code(), Some(137));
}

#[test]
fn a_refusal_of_the_daemon_creates_nothing() {
    let text = "docker: Error response from daemon: quota reached\n";
    let refused = Scenario::program().refused_with(Answer::failure(125, text));
    let stand_in = StandIn::playing(refused);
    run(&stand_in).stderr(text).status(125);
    assert!(actions(&stand_in).is_empty());
}

#[test]
fn a_container_that_was_never_started_is_only_removed_by_force() {
    let stand_in = StandIn::playing(Scenario::program().never_starts());
    let running = run(&stand_in).spawn();
    stand_in.wait_for_container(NAME, "created");

    let killed = docker(&stand_in, &["kill", NAME]).output();
    let text = format!("Error response from daemon: Cannot kill container: {NAME}: Container ");
    assert!(killed.stderr_text().starts_with(&text));
    assert!(killed.stderr_text().ends_with(" is not running\n"));
    assert_eq!(killed.code(), Some(1));

    docker(&stand_in, &["rm", "--force", NAME]).stdout(format!("{NAME}\n")).status(0);
    assert_eq!(actions(&stand_in), ["create", "attach", "destroy"]);
    let finished = running.wait();
    assert!(finished.stderr_text().contains("No such container: "));
    assert_eq!(finished.code(), Some(125));
}

#[test]
fn a_start_can_take_its_time() {
    let program = Scenario::program().starts_after(Trigger::file("go")).prints("45\n");
    let stand_in = StandIn::playing(program);
    let mut running = run(&stand_in).spawn();
    running.close_stdin();
    stand_in.wait_for_container(NAME, "created");
    stand_in.trigger("go");
    assert_eq!(running.wait().stdout_text(), "45\n");
}

#[test]
fn a_late_container_appears_though_its_client_is_dead() {
    for (orphan, phase) in [(Orphan::Created, "created"), (Orphan::Running, "running")] {
        let late = Scenario::program().created_late(Trigger::file("now"), orphan);
        let stand_in = StandIn::playing(late);
        let running = run(&stand_in).spawn();
        stand_in.wait_for_call("run");
        stand_in.eventually("the daemon's work on it", || {
            stand_in.dir().join("pending").join(NAME).exists().then_some(())
        });
        // The whole group: what the daemon does is out of its reach.
        running.send_signal_to_group(Signal::KILL);
        assert_eq!(running.wait().signal(), Some(Signal::KILL.as_raw()));

        let text = format!("Error response from daemon: No such container: {NAME}\n");
        docker(&stand_in, &["rm", "-f", NAME]).stderr(text).status(0);
        stand_in.trigger("now");
        stand_in.wait_for_container(NAME, phase);
        docker(&stand_in, &["rm", "-f", NAME]).stdout(format!("{NAME}\n")).status(0);
        stand_in.wait_until_empty();
    }
}

#[test]
fn a_late_container_whose_client_lives_runs_as_any_other() {
    let late = Scenario::program().created_late(Trigger::Millis(5), Orphan::Running);
    let stand_in = StandIn::playing(late.prints("45\n"));
    run(&stand_in).stdout("45\n").status(0);
    assert_eq!(actions(&stand_in), ["create", "attach", "start", "die", "destroy"]);
}

#[test]
fn flags_that_take_walls_down_are_not_played() {
    let stand_in = StandIn::playing(Scenario::program());
    for flag in ["--privileged", "--cap-add=ALL", "--device=/dev/kvm", "--detach"] {
        let refused = docker(&stand_in, &["run", flag, "--name", NAME, "i:1"]).output();
        assert_eq!(refused.code(), Some(64));
        let name = flag.split('=').next().unwrap();
        assert!(stand_in.take_unplayed().contains(&format!("unknown flag `{name}`")));
    }
}
