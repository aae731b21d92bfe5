//! A daemon that is down, hangs, or may not be asked, and a CLI without a context.

use super::{NAME, docker, run, run_error};
use crate::support::{Cli, Daemon, Place, Scenario, StandIn};

const DOWN: &str = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the \
                    docker daemon running?";

/// Every command that asks the daemon, with what it prints on stdout without an answer.
fn commands(stand_in: &StandIn) -> [(Cli<'_>, &'static str); 9] {
    let docker = |args| docker(stand_in, args);
    [
        (docker(&["kill", NAME]), ""),
        (docker(&["rm", "-f", NAME]), ""),
        (docker(&["events", "--until", "0", "--format", "json"]), ""),
        (docker(&["ps", "--all", "--format", "json"]), ""),
        (docker(&["image", "ls", "--quiet"]), ""),
        (docker(&["pull", "--quiet", "alpine:3.20"]), ""),
        (docker(&["import", "-", "a:1"]), ""),
        (docker(&["inspect", NAME]), "[]\n"),
        (docker(&["image", "inspect", "--format", "{{.Id}}", "a:1"]), "\n"),
    ]
}

#[test]
fn a_daemon_that_is_down_cannot_be_reached_by_any_command() {
    let stand_in = StandIn::playing(Scenario::program().daemon(Daemon::Down));
    run(&stand_in).stderr(run_error(DOWN)).status(125);
    for (command, stdout) in commands(&stand_in) {
        command.stdout(stdout).stderr(format!("{DOWN}\n")).status(1);
    }
    let build = docker(&stand_in, &["build", "--tag", "a:1", "-"]).output();
    assert!(build.stderr_text().starts_with("DEPRECATED: The legacy builder is deprecated"));
    assert!(build.stderr_text().ends_with(&format!("\n\n{DOWN}\n")));
}

#[test]
fn a_message_names_the_host_of_the_environment() {
    let stand_in = StandIn::playing(Scenario::program().daemon(Daemon::Down));
    let text = "Cannot connect to the Docker daemon at unix:///run/user/1000/docker.sock. Is the \
                docker daemon running?";
    let host = "unix:///run/user/1000/docker.sock";
    run(&stand_in).env("DOCKER_HOST", host).stderr(run_error(text)).status(125);
    run(&stand_in).env("DOCKER_HOST", "").stderr(run_error(DOWN)).status(125);
}

#[test]
fn without_a_daemon_the_client_still_has_a_version() {
    let stand_in = StandIn::playing(Scenario::nothing().daemon(Daemon::Down));
    docker(&stand_in, &["version", "--format", "{{.Client.Version}} {{json .Server}}"])
        .stdout("28.2.2 null\n")
        .stderr(format!("{DOWN}\n"))
        .status(1);
    docker(&stand_in, &["info", "--format", "{{json .ServerVersion}} {{.ClientInfo.Version}}"])
        .stdout("\"\" 28.2.2\n")
        .stderr(format!("{DOWN}\n"))
        .status(1);
}

#[test]
fn a_socket_that_may_not_be_opened_is_126_for_a_run() {
    let stand_in = StandIn::playing(Scenario::program().daemon(Daemon::Denied));
    let denied = |request: &str| {
        format!(
            "permission denied while trying to connect to the Docker daemon socket at \
             unix:///var/run/docker.sock: {request}\": dial unix /var/run/docker.sock: connect: \
             permission denied"
        )
    };
    let ping = denied("Head \"http://%2Fvar%2Frun%2Fdocker.sock/_ping");
    run(&stand_in).stderr(run_error(&ping)).status(126);
    let kill = format!("Post \"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/containers/{NAME}/kill");
    docker(&stand_in, &["kill", NAME]).stderr(denied(&kill) + "\n").status(1);
}

#[test]
fn a_context_that_does_not_exist_fails_everything_with_1() {
    let no_context = |stand_in: &StandIn| {
        format!(
            "Failed to initialize: unable to resolve docker endpoint: context \"nope\": context \
             not found: open {}/.docker/contexts/meta/\
             ca3704aa0b06f5954c79ee837faa152d84d6b2d42838f0637a15eda8337dbdce/meta.json: no such \
             file or directory\n",
            stand_in.home().display()
        )
    };
    let stand_in = StandIn::playing(Scenario::program());
    let text = no_context(&stand_in);
    run(&stand_in).env("DOCKER_CONTEXT", "nope").stderr(&text).status(1);
    let inspect = docker(&stand_in, &["image", "inspect", "a:1"]);
    inspect.env("DOCKER_CONTEXT", "nope").stderr(&text).status(1);

    let stand_in = StandIn::playing(Scenario::program().daemon(Daemon::BadContext));
    let text = no_context(&stand_in);
    run(&stand_in).stderr(&text).status(1);
    for (command, _) in commands(&stand_in) {
        assert_eq!(command.output().code(), Some(1));
    }
    docker(&stand_in, &["version", "--format", "json"]).stderr(&text).status(1);
}

#[test]
fn a_daemon_that_hangs_answers_nothing() {
    let stand_in = StandIn::playing(Scenario::program().daemon(Daemon::Hangs));
    let mut hanging: Vec<_> = commands(&stand_in).map(|(command, _)| command.spawn()).into();
    hanging.push(run(&stand_in).spawn());
    stand_in.eventually("all calls", || (stand_in.calls().len() == 10).then_some(()));
    assert!(stand_in.calls().iter().all(|call| call.ended.is_none()));
    assert!(stand_in.containers_left().is_empty());
}
