//! `docker events`.

use serde_json::Value;

use super::{IMAGE, NAME, actions, docker, events, now, run};
use crate::support::{Answer, Events, Scenario, StandIn};

#[test]
fn an_event_has_the_shape_of_the_real_ones() {
    let stand_in = StandIn::playing(Scenario::program().exits(3));
    run(&stand_in).status(3);
    let told = events(&stand_in).args(["--format", "{{json .}}"]).output().stdout_text();
    let die = told.lines().nth(3).expect("four events");
    let event: Value = serde_json::from_str(die).unwrap();
    let (id, nanos) = (event["id"].as_str().unwrap(), event["timeNano"].as_u64().unwrap());
    assert_eq!(
        die,
        format!(
            "{{\"status\":\"die\",\"id\":\"{id}\",\"from\":\"{IMAGE}\",\"Type\":\"container\",\
             \"Action\":\"die\",\"Actor\":{{\"ID\":\"{id}\",\"Attributes\":{{\"exitCode\":\"3\",\
             \"image\":\"{IMAGE}\",\"name\":\"{NAME}\",\"owner\":\"me\"}}}},\"scope\":\"local\",\
             \"time\":{},\"timeNano\":{nanos}}}",
            nanos / 1_000_000_000,
        )
    );
    assert_eq!(id.len(), 64);
}

#[test]
fn the_oom_killer_is_remembered_before_the_end() {
    let cases = [
        (Scenario::program().runs_out_of_memory(), 137, "137"),
        (Scenario::program().child_runs_out_of_memory().exits(119), 119, "119"),
        (Scenario::program().child_runs_out_of_memory(), 0, "0"),
    ];
    for (program, code, told) in cases {
        let stand_in = StandIn::playing(program);
        run(&stand_in).status(code);
        assert_eq!(actions(&stand_in), ["create", "attach", "start", "oom", "die", "destroy"]);
        let code = "{{index .Actor.Attributes \"exitCode\"}}";
        let only_die = ["--filter", "event=die", "--format", code];
        events(&stand_in).args(only_die).stdout(format!("{told}\n")).status(0);
    }
}

#[test]
fn a_program_that_kills_itself_has_no_oom() {
    let stand_in = StandIn::playing(Scenario::program().exits(137));
    run(&stand_in).status(137);
    assert_eq!(actions(&stand_in), ["create", "attach", "start", "die", "destroy"]);
}

#[test]
fn events_are_of_one_container_and_of_a_time() {
    let stand_in = StandIn::playing(Scenario::program());
    let before = now();
    run(&stand_in).status(0);
    let between = now();
    super::run_named(&stand_in, "other").status(0);

    let count = |args: &[&str]| {
        let told = docker(&stand_in, &["events", "--format", "json"]).args(args.to_vec()).output();
        told.stdout_text().lines().count()
    };
    assert_eq!(count(&["--since", &before, "--until", &now()]), 10);
    assert_eq!(count(&["--since", &between, "--until", &now()]), 5);
    assert_eq!(count(&["--since", &before, "--until", &between]), 5);
    assert_eq!(count(&["--since", "2026-01-01T00:00:00Z", "--until", &before]), 0);
    let filters = ["--filter", "container=other", "--filter", "event=die", "--filter", "event=oom"];
    let mut args = vec!["--since", "0", "--until", &between];
    args.extend(filters);
    assert_eq!(count(&args), 0);
    let end = now();
    args[3] = &end;
    assert_eq!(count(&args), 1);
    for (filter, found) in
        [("label=owner=me", 10), ("label=owner=you", 0), ("type=container", 10), ("image=i:1", 0)]
    {
        assert_eq!(count(&["--since", "0", "--until", &now(), "--filter", filter]), found);
    }
}

#[test]
fn events_wait_for_the_end_of_their_time() {
    let stand_in = StandIn::playing(Scenario::program());
    let following = docker(&stand_in, &["events", "--format", "{{.Action}}"]).spawn();
    stand_in.wait_for_call("events");
    stand_in.eventually("an event that is seen", || {
        run(&stand_in).status(0);
        (!following.stdout().is_empty()).then_some(())
    });
    following.wait_for_stdout("destroy\n");
}

#[test]
fn events_can_be_missing_useless_or_forgotten() {
    let program = Scenario::program()
        .events(Events::Empty)
        .events(Events::Garbage)
        .events(Events::Answers(Answer::failure(1, "Error response from daemon: no\n")))
        .events(Events::Without(vec!["die".to_owned()]))
        .events(Events::Normal);
    let stand_in = StandIn::playing(program);
    run(&stand_in).status(0);
    let events = || events(&stand_in).args(["--format", "{{json .}}"]);
    events().status(0);
    let garbage = events().output();
    assert!(garbage.stdout_text().lines().all(|line| serde_json::from_str::<Value>(line).is_err()));
    assert_eq!((garbage.stdout_text().lines().count(), garbage.code()), (2, Some(0)));
    events().stderr("Error response from daemon: no\n").status(1);
    assert_eq!(actions(&stand_in), ["create", "attach", "start", "destroy"]);
    assert_eq!(actions(&stand_in).len(), 5);
}

#[test]
fn events_can_hang() {
    let stand_in = StandIn::playing(Scenario::nothing().events(Events::Hangs));
    let hanging = events(&stand_in).args(["--format", "{{json .}}"]).spawn();
    stand_in.wait_for_call("events");
    assert_eq!(stand_in.calls()[0].ended, None);
    drop(hanging);
}

#[test]
fn a_time_that_is_none_is_not_played() {
    let stand_in = StandIn::new();
    let bad = docker(&stand_in, &["events", "--format", "json", "--since", "yesterday"]).output();
    assert_eq!(bad.code(), Some(64));
    assert!(stand_in.take_unplayed().contains("time `yesterday`"));
}
