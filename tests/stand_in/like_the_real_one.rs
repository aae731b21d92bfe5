//! The same command lines for the stand-in and for the real CLI, with the same outcome.

use serde_json::Value;

use super::now;
use crate::support::{Cli, Daemon, Finished, Place, Real, Scenario, StandIn};

/// What a user sees, but for the ids.
fn seen(finished: &Finished) -> (Option<i32>, String, String) {
    (finished.code(), without_ids(&finished.stdout_text()), without_ids(&finished.stderr_text()))
}

/// An id has 64 hexadecimal digits.
fn without_ids(text: &str) -> String {
    let is_id = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words: Vec<&str> = text
        .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
        .flat_map(|word| match word.char_indices().next_back() {
            Some((last, c)) if !c.is_ascii_alphanumeric() => vec![&word[..last], &word[last..]],
            Some(_) | None => vec![word],
        })
        .map(|word| if is_id(word) { "[ID]" } else { word })
        .collect();
    words.concat()
}

/// Both Dockers, with the same images and the same program.
struct Both {
    real: Real,
    stand_in: StandIn,
    /// A name that no other container of this machine has.
    name: String,
}

impl Both {
    fn playing(scenario: Scenario) -> Self {
        let real = Real::new();
        let home = real.home().file_name().unwrap_or_default().to_string_lossy();
        let name = format!("das-test{}", home.replace('.', "-"));
        Self { real, stand_in: StandIn::playing(scenario), name }
    }

    #[track_caller]
    fn agree(&self, args: &[&str]) {
        self.agree_with("LANG", "C", args);
    }

    #[track_caller]
    fn agree_with(&self, variable: &str, value: &str, args: &[&str]) {
        let home = self.real.home().display().to_string();
        let [played, real] = [Cli::docker(&self.stand_in), self.real.docker()].map(|cli| {
            let cli = cli.args(args.iter().copied()).env("HOME", &home).env(variable, value);
            seen(&cli.output())
        });
        assert_eq!(played, real, "docker {}", args.join(" "));
    }

    /// The actions that both remember of the container.
    #[track_caller]
    fn agree_on_events(&self, since: &str) {
        self.real.wait_until_gone(&self.name);
        let filter = format!("container={}", self.name);
        let format = "{{.Action}} {{json .Actor.Attributes}}";
        let until = now();
        let events = ["events", "--since", since, "--until", &until, "--filter", &filter];
        self.agree(&[&events[..], &["--format", format]].concat());
    }

    fn run<'a>(&'a self, image: &'a str, command: &[&'a str]) -> Vec<&'a str> {
        let name = self.name.as_str();
        let flags = ["run", "--rm", "-i", "--name", name, "--pull", "never", "--network", "none"];
        [&flags[..], &["--label", name, image], command].concat()
    }
}

/// The image with what is in it: its labels are those of its containers too.
fn shell_image() -> (String, Value) {
    let (real, image) = (Real::new(), Real::shell_image());
    let inspect = ["image", "inspect", "--format", "{{json .}}", &image];
    let details = real.docker().args(inspect).output();
    let details = serde_json::from_slice(&details.stdout).expect("an image that is there");
    (image, details)
}

/// A failed test leaves nothing on the machine.
impl Drop for Both {
    fn drop(&mut self) {
        self.real.docker().args(["rm", "-f", &self.name]).output();
    }
}

#[test]
#[ignore = "needs Docker: the images that the other tests need are there"]
fn the_images_of_these_tests_are_there() {
    let real = Real::new();
    for image in [Real::python_image(), Real::node_image(), Real::shell_image()] {
        let inspected = real.docker().args(["image", "inspect", &image]).output();
        assert_eq!(inspected.code(), Some(0), "{}", inspected.stderr_text());
    }
}

#[test]
#[ignore = "needs Docker: the stand-in prints and exits as the real CLI does"]
fn failures_without_a_container_are_the_real_ones() {
    let both = Both::playing(Scenario::program().without_images());
    let name = &both.name;
    both.agree(&["kill", name]);
    both.agree(&["rm", "-f", name]);
    both.agree(&["rm", "--force", name, "das-neither"]);
    both.agree(&["rm", name]);
    both.agree(&["inspect", name]);
    both.agree(&["inspect", "--format", "{{.Id}}", name]);
    both.agree(&["image", "inspect", "das/none:1"]);
    both.agree(&["image", "inspect", "--format", "{{.Id}}", "das/none"]);
    both.agree(&["images", "--filter", "label=das.none", "--format", "{{json .}}"]);
    both.agree(&["ps", "-a", "--filter", "label=das.none", "--format", "{{json .}}"]);
    both.agree(&["version", "--format", "{{.Client.Context}}"]);
    both.agree(&["context", "show"]);
    both.agree(&["context", "inspect", "--format", "{{json .Endpoints.docker}}"]);
    both.agree(&both.run("das/none:1", &["true"]));
}

#[test]
#[ignore = "needs Docker: the stand-in prints and exits as the real CLI does"]
fn failures_to_reach_the_daemon_are_the_real_ones() {
    let both = Both::playing(Scenario::program().daemon(Daemon::Down));
    let name = &both.name;
    let commands = [
        both.run("das/none:1", &["true"]),
        vec!["kill", name],
        vec!["rm", "-f", name],
        vec!["events", "--since", "0", "--until", "1", "--format", "{{json .}}"],
        vec!["image", "inspect", "das/none:1"],
        vec!["image", "ls", "--format", "{{json .}}"],
        vec!["ps", "-a", "--format", "{{json .}}"],
        vec!["pull", "--quiet", "das/none:1"],
        vec!["inspect", name],
        vec!["import", "-", "das/none:1"],
        vec!["version", "--format", "{{.Client.Os}} {{json .Server}}"],
        vec!["info", "--format", "{{json .ServerVersion}}"],
    ];
    for command in &commands {
        both.agree_with("DOCKER_HOST", "unix:///das-nonexistent.sock", command);
    }
    both.stand_in.play(Scenario::program());
    for command in &commands {
        both.agree_with("DOCKER_CONTEXT", "das-nonexistent", command);
    }
}

#[test]
#[ignore = "needs Docker: the stand-in prints and exits as the real CLI does"]
fn runs_and_what_the_daemon_remembers_of_them_are_the_real_ones() {
    let (image, details) = shell_image();
    let program = || Scenario::program_that_never_reads().image(&image, details.clone());
    let cases = [
        (
            program().prints("45\n").prints_to_stderr("no\n").exits(3),
            "echo 45; echo no >&2; exit 3",
        ),
        (program().exits(137), "exit 137"),
        (program().prints_its_stdin(), "cat"),
    ];
    for (scenario, script) in cases {
        let both = Both::playing(scenario);
        let since = now();
        both.agree(&both.run(&image, &["sh", "-c", script]));
        both.agree_on_events(&since);
    }
    let both = Both::playing(program().interpreter_is_missing());
    let since = now();
    both.agree(&both.run(&image, &["das-no-such-program", "-"]));
    both.agree_on_events(&since);
    let both = Both::playing(program().interpreter_is_not_executable());
    both.agree(&both.run(&image, &["/etc", "-"]));
    let both = Both::playing(program());
    let runtime = both.run(&image, &["true"]);
    both.agree(&[&runtime[..1], &["--runtime", "das-none"], &runtime[1..]].concat());
}

#[test]
#[ignore = "needs Docker: the stand-in kills and conflicts as the real CLI does"]
fn what_happens_to_a_running_container_is_the_real_thing() {
    let (image, details) = shell_image();
    let endless = Scenario::program_that_never_reads().prints("on\n").runs_until_killed();
    let both = Both::playing(endless.image(&image, details));
    let name = &both.name;
    for stop in [&["kill", name][..], &["rm", "-f", name]] {
        let since = now();
        let command = both.run(&image, &["sh", "-c", "echo on; sleep 60"]);
        let real = both.real.docker().args(command.iter().copied()).spawn();
        let played = Cli::docker(&both.stand_in).args(command.iter().copied()).spawn();
        real.wait_for_stdout("on\n");
        played.wait_for_stdout("on\n");
        both.agree(&both.run(&image, &["true"]));
        both.agree(&["rm", name]);
        let label = format!("label={name}");
        let format = "{{.Names}} {{.Labels}} {{.State}}";
        both.agree(&["ps", "-a", "--filter", &label, "--format", format]);
        assert_eq!(both.real.containers_with(name), [name.as_str()]);
        both.agree(&["inspect", "--format", "{{.Name}} {{.State.Status}}", name]);
        both.agree(stop);
        assert_eq!(seen(&played.wait()), seen(&real.wait()));
        both.agree_on_events(&since);
    }
}
