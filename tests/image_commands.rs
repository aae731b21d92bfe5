//! `das image` and the images of `das run`, against the stand-in.

use serde_json::json;

use rustix::process::Signal;

use crate::support::{
    Answer, Daemon, Das, Finished, Load, Pull, PullFailure, Scenario, StandIn, Trigger,
};

/// Where the default image of a language can be had is nobody's to say in these tests.
const NO_HOST: &str = "no registry can be reached (Get \"https://registry-1.docker.io/v2/\": \
    dial tcp: lookup registry-1.docker.io on 127.0.0.53:53: no such host)";

fn das<'a>(stand_in: &'a StandIn, args: &[&str]) -> Das<'a> {
    Das::new(stand_in).args(args.iter().copied())
}

/// The engine's commands that were called, without those that only ask about containers.
fn commands(stand_in: &StandIn) -> Vec<String> {
    let calls = stand_in.calls();
    let words = calls.iter().map(|call| match call.command() {
        "image" => format!("image {}", call.argv[1]),
        other => other.to_owned(),
    });
    words.filter(|word| word != "events" && word != "ps").collect()
}

/// The image that the last run ran in.
fn last_image(stand_in: &StandIn) -> String {
    let run = stand_in.runs().pop().expect("a run");
    let label = run.argv.iter().rposition(|word| word == "--label").expect("labels");
    run.argv[label + 2].clone()
}

fn offline(label: &str) -> serde_json::Value {
    json!({
        "Config": { "Labels": { "docker-agent-sandbox.offline": label } },
        "RootFS": { "Type": "layers", "Layers": ["sha256:1"] },
    })
}

#[test]
fn an_image_that_is_there_is_not_asked_for() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n"));
    das(&stand_in, &["run", "-q", "-c", "x"]).stdout("45\n").status(0);
    assert_eq!(commands(&stand_in), ["run"]);
}

#[test]
fn a_missing_image_is_pulled_and_the_program_runs_once() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n").without_images());
    let finished = das(&stand_in, &["run", "-c", "x"]).output();
    assert_eq!((finished.stdout_text().as_str(), finished.code()), ("45\n", Some(0)));
    let stderr = finished.stderr_text();
    assert!(stderr.starts_with("[sandbox] pulling `python:3.12-slim`\n3.12-slim: Pulling from"));
    assert_eq!(commands(&stand_in), ["run", "image inspect", "image ls", "pull", "run"]);
}

#[test]
fn a_quiet_pull_says_nothing() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n").without_images());
    das(&stand_in, &["run", "-q", "-c", "x"]).stdout("45\n").status(0);
}

#[test]
fn a_policy_that_always_pulls_pulls_before_the_run() {
    let stand_in = StandIn::playing(Scenario::program().prints("45\n"));
    das(&stand_in, &["run", "-q", "--pull", "always", "-c", "x"]).stdout("45\n").status(0);
    assert_eq!(commands(&stand_in), ["image inspect", "pull", "run"]);
}

#[test]
fn a_policy_that_never_pulls_says_what_does() {
    let stand_in = StandIn::playing(Scenario::program().without_images());
    das(&stand_in, &["run", "--pull", "never", "-c", "x"])
        .stderr(
            "[sandbox] sandbox_error in [TIME]\n\
             [sandbox] hint: the engine has no image `python:3.12-slim`; `das image pull python` \
             fetches it, `das image build python` makes one from this machine's own interpreter\n",
        )
        .status(125);
    assert_eq!(commands(&stand_in), ["run"]);
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_registry_a_default_image_is_made_from_this_machine_and_used() {
    let program = Scenario::program().prints("hi\n").without_images();
    let program = program.version(json!({ "Server": { "Arch": std::env::consts::ARCH } }));
    let stand_in = StandIn::playing(program.pull(Pull::Fails(PullFailure::NoSuchHost)));
    let finished = das(&stand_in, &["run", "-l", "shell", "-c", "x"]).output();
    assert_eq!((finished.stdout_text().as_str(), finished.code()), ("hi\n", Some(0)));
    let stderr = finished.stderr_text();
    let begin = "[sandbox] pulling `alpine:3.20`\n\
                 [sandbox] making an image from this machine's own shell\n\
                 [sandbox] warning: no registry can be reached; using `das-offline/shell:";
    assert!(stderr.starts_with(begin), "{stderr}");
    assert!(stderr.contains(", in place of `alpine:3.20`\n"), "{stderr}");
    let import = stand_in.calls_of("import").remove(0);
    let tag = import.argv.last().expect("a name").clone();
    assert!(import.tar.as_ref().is_some_and(|tar| tar.entries.contains(&"usr/bin/sh".to_owned())));
    assert_eq!(last_image(&stand_in), tag);

    // The next time it is there already, and no registry is asked.
    let pulls = stand_in.calls_of("pull").len();
    let again = das(&stand_in, &["run", "-l", "shell", "-c", "x"]).output();
    let expected =
        format!("[sandbox] warning: `alpine:3.20` is not here; using `{tag}`, made from");
    assert!(again.stderr_text().starts_with(&expected), "{}", again.stderr_text());
    assert_eq!(stand_in.calls_of("pull").len(), pulls);
}

#[test]
fn an_image_that_somebody_named_is_never_replaced() {
    let scenario = Scenario::program().without_images().pull(Pull::Fails(PullFailure::NoSuchHost));
    let stand_in =
        StandIn::playing(scenario.image("das-offline/python:3.11.7", offline("python 3.11.7")));
    das(&stand_in, &["run", "--image", "mine:1", "-c", "x"])
        .stderr(format!(
            "[sandbox] pulling `mine:1`\n\
             [sandbox] sandbox_error in [TIME]\n\
             [sandbox] hint: the image `mine:1` cannot be had: {NO_HOST}; `das image build python` \
             makes one from this machine's own interpreter; --image names another\n"
        ))
        .status(125);
    assert_eq!(stand_in.calls_of("import").len(), 0);
}

#[test]
fn a_default_image_that_the_registry_refuses_is_not_replaced() {
    for pull in [PullFailure::Denied, PullFailure::NotFound] {
        let stand_in =
            StandIn::playing(Scenario::program().without_images().pull(Pull::Fails(pull)));
        let finished = das(&stand_in, &["run", "-q", "-c", "x"]).output();
        assert_eq!((finished.code(), stand_in.calls_of("import").len()), (Some(125), 0));
    }
}

#[test]
fn a_stand_in_made_earlier_is_used_in_place_of_a_default_image() {
    let scenario = Scenario::program().prints("45\n").without_images();
    let stand_in =
        StandIn::playing(scenario.image("das-offline/python:3.11.7", offline("python 3.11.7")));
    das(&stand_in, &["run", "-q", "-c", "x"])
        .stdout("45\n")
        .stderr(
            "[sandbox] warning: `python:3.12-slim` is not here; using \
             `das-offline/python:3.11.7`, made from python 3.11.7 (`das image pull` fetches the \
             other)\n",
        )
        .status(0);
    assert_eq!(last_image(&stand_in), "das-offline/python:3.11.7");
}

#[test]
fn a_pull_that_hangs_ends_with_das() {
    let stand_in = StandIn::playing(Scenario::program().without_images().pull(Pull::Hangs));
    let running = das(&stand_in, &["run", "-q", "-c", "x"]).spawn();
    stand_in.wait_for_call("pull");
    running.send_signal(Signal::TERM);
    let finished = running.wait();
    assert_eq!(finished.signal(), Some(15), "{}", finished.stderr_text());
}

#[test]
fn a_stop_during_a_pull_starts_nothing() {
    let scenario = Scenario::program().without_images();
    let stand_in = StandIn::playing(scenario.pull(Pull::After(Trigger::file("go"))));
    let running = das(&stand_in, &["run", "-q", "-c", "x"]).spawn();
    stand_in.wait_for_call("pull");
    running.send_signal(Signal::TERM);
    running.wait();
    stand_in.trigger("go");
    assert_eq!(commands(&stand_in), ["run", "image inspect", "image ls", "pull"]);
}

#[test]
fn the_images_of_the_policy_are_listed_and_those_that_das_made() {
    let baked = json!({ "Config": { "Labels": { "docker-agent-sandbox.baked": "b with numpy" } } });
    let scenario = Scenario::nothing()
        .without_image("node:22-slim")
        .image("python:3.12-slim", json!({ "RepoDigests": ["python@sha256:1"] }))
        .image("das-offline/shell:debian-12", offline("shell debian-12"))
        .image("das-baked/python:numpy-1", baked);
    let stand_in = StandIn::playing(scenario);
    let listed = das(&stand_in, &["image", "list", "--json"]).output();
    let rows: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let row = |index: usize| {
        let row = &rows[index];
        let made = row["present"]["made"].as_str().unwrap_or("missing");
        format!("{} {} {made}", row["language"], row["image"]).replace('"', "")
    };
    let expected = [
        "python python:3.12-slim pulled",
        "node node:22-slim missing",
        "shell alpine:3.20 local",
        "python das-baked/python:numpy-1 baked",
        "shell das-offline/shell:debian-12 offline",
    ];
    assert_eq!((0..5).map(row).collect::<Vec<_>>(), expected);
    assert_eq!(rows.as_array().map(Vec::len), Some(5));
    let table = das(&stand_in, &["image", "list"]).output().stdout_text();
    assert_eq!(table.lines().count(), 6, "{table}");
}

#[test]
fn a_daemon_that_is_down_is_not_taken_for_missing_images() {
    let stand_in = StandIn::playing(Scenario::nothing().daemon(Daemon::Down));
    let listed = das(&stand_in, &["image", "list"]).output();
    assert_eq!((listed.stdout_text().as_str(), listed.code()), ("", Some(125)));
    let stderr = listed.stderr_text();
    assert!(stderr.starts_with("error: the engine refused: Cannot connect"), "{stderr}");
}

#[test]
fn every_image_is_pulled_although_one_fails() {
    let stand_in = StandIn::playing(Scenario::nothing().pull(Pull::Fails(PullFailure::NotFound)));
    let pulled = das(&stand_in, &["image", "pull", "python", "js", "--json"]).output();
    assert_eq!(pulled.code(), Some(125));
    let rows: serde_json::Value = serde_json::from_slice(&pulled.stdout).expect("JSON");
    assert_eq!(rows[0]["language"], "python");
    assert_eq!(rows[1]["image"], "node:22-slim");
    assert_eq!(
        rows[1]["error"],
        "cannot pull `node:22-slim`: the registry has no such image, or hides it from strangers \
         (manifest for node:22-slim not found: manifest unknown: manifest unknown)"
    );
    assert_eq!(stand_in.calls_of("pull").len(), 2);
}

#[test]
fn a_pull_of_a_language_that_is_not_offered_is_refused_before_anything_is_pulled() {
    let stand_in = StandIn::new();
    das(&stand_in, &["image", "pull", "python", "cobol"])
        .stderr(
            "error: the policy offers no language `cobol`, only python, node, shell\n\n\
             hint: the policy's `images` and `languages` say what is offered\n",
        )
        .status(2);
    assert_eq!(stand_in.calls().len(), 0);
}

fn built(stand_in: &StandIn, args: &[&str]) -> Finished {
    das(stand_in, &[&["image", "build"], args].concat()).output()
}

#[test]
fn packages_are_built_upon_the_policys_image_and_listed_by_a_run_behind_the_walls() {
    let scenario = Scenario::program().prints("numpy==2.4.6\n").without_images();
    let stand_in = StandIn::playing(scenario.image("python:3.12-slim", json!({})));
    let args = ["python", "--with", "numpy", "--with", "pandas==3.1.1", "--json"];
    let finished = built(&stand_in, &args);
    assert_eq!((finished.stderr_text().as_str(), finished.code()), ("", Some(0)));
    let report: serde_json::Value = serde_json::from_slice(&finished.stdout).expect("JSON");
    let image = report["image"].as_str().expect("an image");
    assert!(image.starts_with("das-baked/python:numpy-pandas--3.1.1-"), "{image}");
    assert_eq!(report["from"], "python:3.12-slim");
    assert_eq!(report["packages"], json!(["numpy==2.4.6"]));
    assert_eq!(report["policy"], json!({ "images": { "python": image } }));
    let build = stand_in.calls_of("build").remove(0);
    let dockerfile = String::from_utf8_lossy(&build.stdin).into_owned();
    assert!(dockerfile.starts_with("FROM python:3.12-slim\nUSER 0:0\nRUN "), "{dockerfile}");
    assert!(dockerfile.contains("'numpy' 'pandas==3.1.1'"), "{dockerfile}");
    assert!(dockerfile.ends_with("USER 65534:65534\nWORKDIR /tmp\n"), "{dockerfile}");
    assert_eq!(last_image(&stand_in), image);
    let run = stand_in.runs().remove(0);
    assert_eq!(run.values("--network"), ["none"]);
}

#[test]
fn a_build_that_fails_makes_no_image_and_says_why() {
    let failure = Answer::failure(1, "The command '/bin/sh -c pip' returned a non-zero code: 1\n");
    let stand_in = StandIn::playing(Scenario::program().build(Load::Answers(failure)));
    let finished = built(&stand_in, &["python", "--with", "nosuch", "--json"]);
    assert_eq!((finished.stdout_text().as_str(), finished.code()), ("", Some(125)));
    let stderr = finished.stderr_text();
    let begin = "error: no image was made\n  caused by: the engine refused: The command '/bin/sh";
    assert!(stderr.starts_with(begin), "{stderr}");
    assert_eq!(stand_in.runs().len(), 0);
}

#[test]
fn an_image_in_which_nothing_runs_is_told_of() {
    let scenario = Scenario::program().interpreter_is_missing().without_images();
    let stand_in = StandIn::playing(scenario.image("python:3.12-slim", json!({})));
    let finished = built(&stand_in, &["python", "--with", "numpy", "--tag", "mine:1", "--json"]);
    assert_eq!(finished.code(), Some(125));
    let stderr = finished.stderr_text();
    let begin = "error: `mine:1` was made, but nothing runs in it: the image `mine:1` has no such";
    assert!(stderr.starts_with(begin), "{stderr}");
}

#[test]
fn what_is_no_package_is_refused_before_anything_is_built() {
    let stand_in = StandIn::new();
    for text in ["--with=-e", "--with=git+https://example.com/x", "--with=./x", "--with=a b"] {
        let finished = built(&stand_in, &["python", text]);
        assert_eq!(finished.code(), Some(2), "{text}: {}", finished.stderr_text());
    }
    assert_eq!(stand_in.calls().len(), 0);
}

#[test]
fn a_language_of_which_das_has_no_interpreter_is_refused() {
    let stand_in = StandIn::new();
    das(&stand_in, &["image", "build", "ruby"])
        .stderr("error: das cannot make an image for `ruby`, only for python, node and shell\n")
        .status(2);
}
