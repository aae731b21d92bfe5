//! The image store, and the commands that fill it.

use serde_json::json;

use super::{IMAGE, docker, run, run_error};
use crate::support::{Answer, Load, Pull, PullFailure, Scenario, StandIn, Tar, Trigger};

const ID: &str = "{{.Id}}";

fn archive() -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for name in ["usr/bin/python3", "usr/lib/libc.so.6"] {
        let mut header = tar::Header::new_gnu();
        header.set_size(4);
        tar.append_data(&mut header, name, &b"data"[..]).expect("a writable vector");
    }
    tar.into_inner().expect("a writable vector")
}

#[test]
fn an_image_is_there_unless_the_scenario_says_otherwise() {
    let stand_in = StandIn::playing(Scenario::nothing().without_image("gone:1"));
    let inspect = |name| docker(&stand_in, &["image", "inspect", "--format", ID, name]);
    assert!(inspect("any:1").output().stdout_text().starts_with("sha256:"));
    let text = "Error response from daemon: no such image: gone:1: No such image: gone:1\n";
    inspect("gone:1").stdout("\n").stderr(text).status(1);
    docker(&stand_in, &["image", "inspect", "gone:1"]).stdout("[]\n").stderr(text).status(1);
}

#[test]
fn a_run_of_a_missing_image_fails_until_it_is_pulled() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n").without_images());
    let text = format!("Error response from daemon: No such image: {IMAGE}");
    run(&stand_in).stderr(run_error(&text)).status(125);
    let whole = format!("docker.io/library/{IMAGE}\n");
    docker(&stand_in, &["pull", "--quiet", IMAGE]).stdout(whole).status(0);
    run(&stand_in).stdout("45\n").status(0);
}

#[test]
fn a_pull_tells_what_it_does_unless_it_is_to_be_quiet() {
    let stand_in = StandIn::playing(Scenario::nothing().without_images());
    let pulled = docker(&stand_in, &["pull", "ghcr.io/me/tool:2"]).output().stdout_text();
    let lines: Vec<&str> = pulled.lines().collect();
    assert_eq!(lines[0], "2: Pulling from ghcr.io/me/tool");
    assert_eq!(
        lines[2..],
        ["Status: Downloaded newer image for ghcr.io/me/tool:2", "ghcr.io/me/tool:2"]
    );
    docker(&stand_in, &["pull", "-q", "me/tool:2"]).stdout("docker.io/me/tool:2\n").status(0);
}

#[test]
fn a_pull_fails_as_it_does_with_a_real_registry() {
    let said = [
        (
            PullFailure::NoSuchHost,
            "Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io on 127.0.0.53:53: no such host",
        ),
        (
            PullFailure::ConnectionRefused,
            "Get \"http://127.0.0.1:5000/v2/\": dial tcp 127.0.0.1:5000: connect: connection refused",
        ),
        (
            PullFailure::Denied,
            "pull access denied for me/tool, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
        ),
        (
            PullFailure::NotFound,
            "manifest for me/tool:2 not found: manifest unknown: manifest unknown",
        ),
    ];
    for (why, text) in said {
        let stand_in = StandIn::playing(Scenario::nothing().pull(Pull::Fails(why)));
        let text = format!("Error response from daemon: {text}\n");
        docker(&stand_in, &["pull", "--quiet", "me/tool:2"]).stderr(text).status(1);
    }
}

#[test]
fn pulls_can_be_slow_hang_or_answer_anything() {
    let limit = Answer::failure(1, "toomanyrequests\n");
    let program = Scenario::nothing()
        .pull(Pull::Answers(limit))
        .pull(Pull::After(Trigger::Millis(1)))
        .pull(Pull::Hangs);
    let stand_in = StandIn::playing(program);
    let pull = || docker(&stand_in, &["pull", "--quiet", "a/b:1"]);
    pull().stderr("toomanyrequests\n").status(1);
    pull().stdout("docker.io/a/b:1\n").status(0);
    let _hanging = pull().spawn();
    assert_eq!(stand_in.wait_for_calls("pull", 3)[2].ended, None);
}

#[test]
fn an_import_makes_an_image_with_its_labels() {
    let stand_in = StandIn::playing(Scenario::program().without_images());
    let changes =
        ["--change", "LABEL das.recipe=1", "-c", "CMD [\"python3\"]", "--message", "made"];
    let finished = docker(&stand_in, &["import"])
        .args(changes)
        .args(["-", "das/python:1"])
        .stdin(archive())
        .output();
    let id = finished.stdout_text();
    docker(&stand_in, &["image", "inspect", "-f", ID, "das/python:1"]).stdout(&id).status(0);

    let call = stand_in.wait_for_call("import");
    assert_eq!(call.stdin, archive());
    assert_eq!(
        call.tar,
        Some(Tar {
            bytes: archive().len() as u64,
            sha256: id.trim().trim_start_matches("sha256:").to_owned(),
            entries: vec!["usr/bin/python3".to_owned(), "usr/lib/libc.so.6".to_owned()],
        })
    );
    for (filter, found) in [
        ("label=das.recipe", "das/python:1\n"),
        ("label=das.recipe=1", "das/python:1\n"),
        ("label=das.recipe=2", ""),
        ("reference=das/python:1", "das/python:1\n"),
    ] {
        let list = ["image", "ls", "--filter", filter, "--format", "{{.Repository}}:{{.Tag}}"];
        docker(&stand_in, &list).stdout(found).status(0);
    }
    let short = format!("{}\n", &id["sha256:".len()..][..12]);
    docker(&stand_in, &["images", "--quiet"]).stdout(short).status(0);
    docker(&stand_in, &["images", "--no-trunc", "--format", "{{.ID}}"]).stdout(id).status(0);
}

#[test]
fn an_import_of_something_else_fails() {
    let stand_in = StandIn::playing(Scenario::nothing().without_images());
    let text =
        "Error response from daemon: Error processing tar file(exit status 1): unexpected EOF\n";
    docker(&stand_in, &["import", "-", "a:1"]).stdin("garbage\n").stderr(text).status(1);
    assert_eq!(docker(&stand_in, &["image", "inspect", "a:1"]).output().code(), Some(1));
}

#[test]
fn a_build_makes_an_image_and_speaks_of_its_builder() {
    let stand_in = StandIn::playing(Scenario::nothing().without_images());
    let build =
        ["build", "--tag", "das/baked:1", "--label", "das.bake=numpy", "--network", "none", "-"];
    let loud = docker(&stand_in, &build).stdin(archive()).output();
    assert!(loud.stdout_text().ends_with("Successfully tagged das/baked:1\n"));
    assert!(loud.stderr_text().starts_with("DEPRECATED: The legacy builder is deprecated"));
    let quiet =
        docker(&stand_in, &["build", "-q", "-t", "das/baked:2", "-"]).stdin(archive()).output();
    let id = quiet.stdout_text();
    docker(&stand_in, &["image", "inspect", "-f", ID, "das/baked:2"]).stdout(id).status(0);
    let label = ["image", "ls", "--filter", "label=das.bake=numpy", "--format", "{{.Tag}}"];
    docker(&stand_in, &label).stdout("1\n").status(0);
}

#[test]
fn imports_and_builds_can_fail_hang_or_not_read() {
    let full = || Answer::failure(1, "no space left on device\n");
    let program = Scenario::nothing()
        .import(Load::Answers(full()))
        .import(Load::Hangs)
        .build(Load::AnswersUnread(full()))
        .build(Load::Works);
    let stand_in = StandIn::playing(program);
    let import = || docker(&stand_in, &["import", "-", "a:1"]).stdin(archive());
    import().stderr("no space left on device\n").status(1);
    let _hanging = import().spawn();
    assert_eq!(stand_in.wait_for_calls("import", 2)[1].ended, None);

    let build = docker(&stand_in, &["build", "-q", "-t", "a:1", "-"]).stdin(vec![0; 1_000_000]);
    build.stderr("no space left on device\n").status(1);
    assert_eq!(stand_in.calls_of("build")[0].stdin, b"");
}

#[test]
fn a_scenario_says_what_is_in_an_image() {
    let config = json!({ "Id": "sha256:abc", "Config": { "Entrypoint": ["/init"], "Volumes": { "/data": {} } } });
    let stand_in = StandIn::playing(Scenario::nothing().image("odd:1", config));
    let format =
        "{{.Id}} {{json .Config.Entrypoint}} {{json .Config.Volumes}} {{.Os}}/{{.Architecture}}";
    docker(&stand_in, &["image", "inspect", "--format", format, "odd:1"])
        .stdout("sha256:abc [\"/init\"] {\"/data\":{}} linux/amd64\n")
        .status(0);
    let array = docker(&stand_in, &["image", "inspect", "odd:1"]).output().stdout_text();
    assert!(array.starts_with("[\n    {\n        \"Architecture\": \"amd64\","));
    docker(&stand_in, &["inspect", "--type", "image", "-f", ID, "odd:1"])
        .stdout("sha256:abc\n")
        .status(0);
}

#[test]
fn the_stand_in_does_not_pull_in_the_middle_of_a_run() {
    let stand_in = StandIn::playing(Scenario::program().without_images());
    let refused = docker(&stand_in, &["run", "--rm", "--name", "x", "a:1"]).output();
    assert_eq!(refused.code(), Some(64));
    assert!(stand_in.take_unplayed().contains("an implicit pull"));
}
