//! What fails that is not the program: each failure with words and a way out of its own.

use serde_json::json;

use super::{run, said};
use crate::support::{Answer, Daemon, Ended, Place, Scenario, StandIn, redact};

#[track_caller]
fn fails(stand_in: &StandIn, hint: &str) {
    run(stand_in).stderr(said("sandbox_error", hint)).status(125);
    assert!(stand_in.containers_left().is_empty());
}

#[test]
fn no_engine_at_all() {
    let stand_in = StandIn::new();
    run(&stand_in)
        .args(["--engine", "/nowhere/docker"])
        .stderr(said(
            "sandbox_error",
            "the engine `/nowhere/docker` is not an executable file; install Docker or Podman, or \
             name the program with --engine PATH",
        ))
        .status(125);
}

#[test]
fn an_engine_that_is_no_program() {
    let stand_in = StandIn::new();
    let text = stand_in.home().join("docker");
    std::fs::write(&text, "not a program").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&text, mode).unwrap();
    let text = text.to_str().unwrap();
    run(&stand_in)
        .args(["--engine", text])
        .stderr(said(
            "sandbox_error",
            &format!(
                "cannot start `{text}`: Exec format error (os error 8); install Docker or Podman, \
                 or name the program with --engine PATH"
            ),
        ))
        .status(125);
}

#[test]
fn a_daemon_that_is_down() {
    let stand_in = StandIn::playing(Scenario::program().daemon(Daemon::Down));
    fails(
        &stand_in,
        "the container engine cannot be reached: Cannot connect to the Docker daemon at \
         unix:///var/run/docker.sock. Is the docker daemon running?; start Docker (`sudo systemctl \
         start docker`, or Docker Desktop), and check DOCKER_HOST",
    );
}

#[test]
fn a_daemon_that_may_not_be_asked() {
    let stand_in = StandIn::playing(Scenario::program().daemon(Daemon::Denied));
    fails(
        &stand_in,
        "this user may not talk to the engine: permission denied while trying to connect to the \
         Docker daemon socket at unix:///var/run/docker.sock: Head \
         \"http://%2Fvar%2Frun%2Fdocker.sock/_ping\": dial unix /var/run/docker.sock: connect: \
         permission denied; add the user to the docker group (`sudo usermod -aG docker $USER`, \
         then log in again), or use rootless Docker",
    );
}

#[test]
fn a_context_that_does_not_exist() {
    let stand_in = StandIn::playing(Scenario::program());
    let home = stand_in.home().display();
    run(&stand_in)
        .env("DOCKER_CONTEXT", "nope")
        .stderr(said(
            "sandbox_error",
            &format!(
                "the engine's endpoint is not usable: Failed to initialize: unable to resolve \
                 docker endpoint: context \"nope\": context not found: open \
                 {home}/.docker/contexts/meta/\
                 ca3704aa0b06f5954c79ee837faa152d84d6b2d42838f0637a15eda8337dbdce/meta.json: no \
                 such file or directory; check DOCKER_HOST, DOCKER_CONTEXT and `docker context \
                 ls`"
            ),
        ))
        .status(125);
}

#[test]
fn an_image_that_is_not_there() {
    let stand_in = StandIn::playing(Scenario::program().without_images());
    run(&stand_in)
        .args(["--pull", "never"])
        .stderr(said(
            "sandbox_error",
            "the engine has no image `python:3.12-slim`; `das image pull python` fetches it, `das \
             image build python` makes one from this machine's own interpreter",
        ))
        .status(125);
}

#[test]
fn a_runtime_that_the_engine_does_not_have_is_never_replaced() {
    let stand_in = StandIn::playing(Scenario::program());
    let refused = said(
        "sandbox_error",
        "the engine does not have the runtime that the policy demands: Error response from \
         daemon: Unknown runtime specified runsc; register it under `runtimes` in \
         /etc/docker/daemon.json and reload the daemon (podman: under `[engine.runtimes]` in \
         containers.conf); das never falls back to a weaker one",
    );
    run(&stand_in).args(["--runtime", "runsc"]).stderr(refused).status(125);
    assert!(stand_in.runs().iter().all(|run| run.values("--runtime") == ["runsc"]));

    let path = json!({ "Runtimes": { "runsc": { "path": "/usr/bin/runsc" } } });
    let stand_in = StandIn::playing(Scenario::program().info(path));
    let success = "[sandbox] success in [TIME]\n";
    run(&stand_in).args(["--runtime", "runsc"]).stderr(success).status(0);
}

#[test]
fn a_broken_runtime_is_no_missing_interpreter() {
    for (text, code) in [
        ("crun: mount `proc` to `proc`: permission denied: unknown", 126),
        ("runc: open /proc/self/attr: no such file or directory: unknown", 127),
        ("crun: cannot set memory limit: unknown", 125),
    ] {
        let stand_in = StandIn::playing(Scenario::program().has_a_broken_runtime(text));
        fails(
            &stand_in,
            &format!(
                "the engine refused to run the container: Error response from daemon: failed to \
                 create shim task: OCI runtime create failed: {text}; this is no fault of the \
                 program: change the policy or the image, as the message says"
            ),
        );
        assert_eq!(stand_in.runs()[0].ended, Some(Ended::Exit(code)));
    }
}

#[test]
fn a_refusal_in_the_engines_words() {
    let text = "docker: Error response from daemon: Range of CPUs is from 0.01 to 2.00, as there \
                are only 2 CPUs available.\nSee 'docker run --help'.\n";
    let refused = Scenario::program().refused_with(Answer::failure(125, text));
    fails(
        &StandIn::playing(refused),
        "the engine refused to run the container: Error response from daemon: Range of CPUs is \
         from 0.01 to 2.00, as there are only 2 CPUs available; this is no fault of the program: \
         change the policy or the image, as the message says",
    );
}

#[test]
fn a_refusal_without_words_is_believed_to_be_none() {
    let refused = Scenario::program().refused_with(Answer::failure(125, ""));
    fails(
        &StandIn::playing(refused),
        "the program's end is unknown: the engine does not say how it ended; check that the \
         engine runs (`das doctor`), then run it again",
    );
}

#[test]
fn a_name_that_is_taken_is_tried_again_under_another() {
    let conflict = Scenario::program().has_a_name_conflict().times(2);
    let stand_in = StandIn::playing(conflict.or(Scenario::program().prints("45\n")));
    run(&stand_in).stdout("45\n").stderr("[sandbox] success in [TIME]\n").status(0);
    let mut names: Vec<String> =
        stand_in.runs().iter().map(|run| run.container().to_owned()).collect();
    names.dedup();
    assert_eq!(names.len(), 3);
}

#[test]
fn names_that_are_all_taken_are_given_up() {
    let stand_in = StandIn::playing(Scenario::program().has_a_name_conflict());
    fails(&stand_in, "other containers have the names that das chose; run it again");
}

#[test]
fn an_engine_that_dies_while_the_program_runs_leaves_its_end_unknown() {
    let lost = Answer::failure(125, "error waiting for container: unexpected EOF\n");
    let program = Scenario::program().prints("4\n").daemon_goes(Daemon::Down).client_exits(lost);
    let stand_in = StandIn::playing(program);
    let unconfirmed = "[sandbox] warning: the engine does not confirm that the container is gone: \
                       `docker rm -f das-[ID]` removes it\n";
    let unknown = said(
        "sandbox_error",
        "the program's end is unknown: the engine does not say how it ended; check that the \
         engine runs (`das doctor`), then run it again",
    );
    run(&stand_in).stdout("4\n").stderr(unconfirmed.to_owned() + &unknown).status(125);
}

#[test]
fn a_program_that_imitates_a_missing_engine_is_told_from_one() {
    // The engine goes down just then, so that nothing but words could tell.
    let down = "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is \
                the docker daemon running?";
    let lost = Answer::failure(125, "error waiting for container: unexpected EOF\n");
    let imitation = Scenario::program().prints_to_stderr(down).daemon_goes(Daemon::Down);
    let stand_in = StandIn::playing(imitation.client_exits(lost));
    let finished = run(&stand_in).output();
    let said = redact(&finished.stderr_text());
    let removal = "the engine does not confirm that the container is gone: `docker rm -f das-[ID]` \
                   removes it";
    assert!(said.contains(removal), "{said}");
    assert!(said.contains("the program's end is unknown"), "{said}");
    assert!(!stand_in.calls_of("rm").is_empty());
}
