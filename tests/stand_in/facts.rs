//! `docker version`, `docker info` and `docker context`.

use serde_json::json;

use super::docker;
use crate::support::{Answer, Scenario, StandIn};

#[test]
fn version_and_info_can_be_changed_key_by_key() {
    let info = json!({ "SecurityOptions": ["name=rootless"], "Runtimes": { "io.containerd.runc.v2": null } });
    let scenario =
        Scenario::nothing().version(json!({ "Client": { "Version": "28.0.1" } })).info(info);
    let stand_in = StandIn::playing(scenario);
    docker(&stand_in, &["version", "--format", "{{.Client.Version}} {{.Server.Version}}"])
        .stdout("28.0.1 20.10.24+dfsg1\n")
        .status(0);
    docker(&stand_in, &["info", "-f", "{{json .SecurityOptions}} {{.CgroupVersion}}"])
        .stdout("[\"name=rootless\"] 1\n")
        .status(0);
    let runtimes =
        "{\"io.containerd.runtime.v1.linux\":{\"path\":\"runc\"},\"runc\":{\"path\":\"runc\"}}\n";
    docker(&stand_in, &["info", "--format", "{{json .Runtimes}}"]).stdout(runtimes).status(0);
}

#[test]
fn version_and_info_can_answer_anything() {
    let scenario = Scenario::nothing()
        .version_answers(Answer { stdout: "podman 5\n".to_owned(), ..Answer::default() })
        .info_answers(Answer::failure(1, "no\n"));
    let stand_in = StandIn::playing(scenario);
    docker(&stand_in, &["version", "--format", "json"]).stdout("podman 5\n").status(0);
    docker(&stand_in, &["info", "--format", "json"]).stderr("no\n").status(1);
}

#[test]
fn the_context_is_the_environments() {
    let stand_in = StandIn::new();
    docker(&stand_in, &["context", "show"]).stdout("default\n").status(0);
    let named = docker(&stand_in, &["context", "show"]).env("DOCKER_CONTEXT", "desktop-linux");
    named.stdout("desktop-linux\n").status(0);
    docker(&stand_in, &["context", "inspect", "-f", "{{.Endpoints.docker.Host}}"])
        .env("DOCKER_HOST", "ssh://far")
        .stdout("ssh://far\n")
        .status(0);
    docker(&stand_in, &["context", "ls", "--format", "{{.Name}} {{.DockerEndpoint}}"])
        .stdout("default unix:///var/run/docker.sock\n")
        .status(0);
}
