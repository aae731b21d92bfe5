//! `docker ps` and `docker inspect`.

use serde_json::{Value, json};

use super::{IMAGE, NAME, docker, run_named};
use crate::support::{Answer, Cli, Listing, Scenario, StandIn};

fn ps<'a>(stand_in: &'a StandIn, args: &[&str]) -> Cli<'a> {
    docker(stand_in, &["ps"]).args(args.to_vec())
}

#[test]
fn containers_are_listed_by_label_and_state() {
    let endless = Scenario::program_that_never_reads().runs_until_killed();
    let stand_in = StandIn::playing(endless);
    let _running = run_named(&stand_in, "one").spawn();
    stand_in.wait_for_container("one", "running");
    stand_in.play(Scenario::program().never_starts());
    let _created = run_named(&stand_in, "two").spawn();
    stand_in.wait_for_container("two", "created");

    let names = |args: &[&str]| ps(&stand_in, args).args(["--format", "{{.Names}} {{.State}}"]);
    names(&["--all"]).stdout("two created\none running\n").status(0);
    names(&[]).stdout("one running\n").status(0);
    names(&["-a", "--filter", "label=owner"]).stdout("two created\none running\n").status(0);
    names(&["-a", "-f", "label=owner=me", "-f", "name=tw"]).stdout("two created\n").status(0);
    names(&["-a", "-f", "status=running"]).stdout("one running\n").status(0);
    names(&["-a", "-f", "label=owner=you"]).status(0);
    ps(&stand_in, &["--format", "{{.Label \"owner\"}} {{.Status}}"])
        .stdout("me Up Less than a second\n")
        .status(0);
    let id = ps(&stand_in, &["--quiet"]).output().stdout_text();
    names(&["--filter", &format!("id={}", id.trim())]).stdout("one running\n").status(0);
    assert_eq!(id.trim().len(), 12);
    assert_eq!(ps(&stand_in, &["-q", "--no-trunc"]).output().stdout_text().trim().len(), 64);
}

#[test]
fn a_row_has_the_keys_of_the_real_one() {
    let stand_in = StandIn::playing(Scenario::program_that_never_reads().runs_until_killed());
    let _running = run_named(&stand_in, NAME).spawn();
    stand_in.wait_for_container(NAME, "running");
    let row = ps(&stand_in, &["-a", "--format", "{{json .}}"]).output().stdout_text();
    let row: Value = serde_json::from_str(&row).unwrap();
    let keys: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
    let real = "Command CreatedAt ID Image Labels LocalVolumes Mounts Names Networks Platform \
                Ports RunningFor Size State Status";
    assert_eq!(keys.join(" "), real);
    assert_eq!(row["Command"], "\"python -I -\"");
    assert_eq!(row["Labels"], "owner=me");
}

#[test]
fn a_container_has_the_labels_of_its_image_too() {
    let labels = json!({ "Config": { "Labels": { "maker": "us", "owner": "you" } } });
    let endless = Scenario::program_that_never_reads().runs_until_killed();
    let stand_in = StandIn::playing(endless.image(IMAGE, labels));
    let _running = run_named(&stand_in, NAME).spawn();
    stand_in.wait_for_container(NAME, "running");
    ps(&stand_in, &["--format", "{{.Labels}}"]).stdout("maker=us,owner=me\n").status(0);
}

#[test]
fn a_container_can_be_inspected() {
    let stand_in = StandIn::playing(Scenario::program_that_never_reads().runs_until_killed());
    let _running = run_named(&stand_in, NAME).spawn();
    stand_in.wait_for_container(NAME, "running");
    let format = "{{.State.Status}} {{.State.OOMKilled}} {{.Name}} {{.Config.Image}} \
                  {{json .Config.Labels}}";
    docker(&stand_in, &["inspect", "--format", format, NAME])
        .stdout(format!("running false /{NAME} {IMAGE} {{\"owner\":\"me\"}}\n"))
        .status(0);
}

#[test]
fn an_object_that_is_not_there_cannot_be_inspected() {
    let stand_in = StandIn::playing(Scenario::nothing().without_images());
    let text = "Error: No such object: x\n";
    docker(&stand_in, &["inspect", "x"]).stdout("[]\n").stderr(text).status(1);
    docker(&stand_in, &["inspect", "-f", "{{.Id}}", "x"]).stdout("\n").stderr(text).status(1);
}

#[test]
fn a_listing_can_be_garbage_hang_or_fail() {
    let program = Scenario::nothing()
        .ps(Listing::Garbage)
        .ps(Listing::Answers(Answer::failure(1, "no\n")))
        .ps(Listing::Hangs);
    let stand_in = StandIn::playing(program);
    let ps = || ps(&stand_in, &["--all", "--format", "{{json .}}"]);
    let garbage = ps().output().stdout_text();
    assert!(garbage.lines().all(|line| serde_json::from_str::<Value>(line).is_err()));
    ps().stderr("no\n").status(1);
    let _hanging = ps().spawn();
    assert_eq!(stand_in.wait_for_calls("ps", 3)[2].ended, None);
}
