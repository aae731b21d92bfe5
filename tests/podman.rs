//! das on podman: the same verdicts, the same walls, nothing left; what differs is said.

use std::path::Path;
use std::sync::OnceLock;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Cli, Finished, Language, Place as _, Real, eventually};

/// The image of a language, made on podman by das itself, once.
fn image(language: Language) -> &'static str {
    static IMAGES: [OnceLock<String>; 3] = [OnceLock::new(), OnceLock::new(), OnceLock::new()];
    let index = match language {
        Language::Python => 0,
        Language::Shell => 1,
        Language::Node => 2,
    };
    IMAGES[index].get_or_init(|| {
        let real = Real::new();
        let built = ["image", "build", language.name(), "--engine", "podman", "--json"];
        let made = Cli::new(&real).args(built).output();
        let made: Value = serde_json::from_slice(&made.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", made.stderr_text()));
        made["image"].as_str().expect("an image").to_owned()
    })
}

/// A policy that names the image of a language on podman.
pub(crate) fn policy(language: Language) -> String {
    json!({"images": {language.name(): image(language)}, "pull": "never"}).to_string()
}

fn das<'a>(real: &'a Real, command: &str) -> Cli<'a> {
    Cli::new(real).args([command, "--engine", "podman", "--pull", "never"])
}

fn run<'a>(real: &'a Real, language: Language, code: &str) -> Cli<'a> {
    let image = ["-l", language.name(), "--image", image(language), "-"];
    das(real, "run").args(image).stdin(code)
}

/// What came of a program, when its container is gone.
#[track_caller]
fn outcome(real: &Real, language: Language, code: &str, flags: &[&str]) -> (Value, Option<i32>) {
    let finished = run(real, language, code).arg("--json").args(flags.iter().copied()).output();
    let outcome: Value = serde_json::from_slice(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", finished.stderr_text()));
    assert_eq!(outcome["warnings"], json!([]), "{outcome}");
    wait_until_gone(real, outcome["run_id"].as_str().expect("a text"));
    (outcome, finished.code())
}

fn podman(real: &Real, args: &[&str]) -> Finished {
    Cli::program(real, Path::new("podman")).args(args.iter().copied()).output()
}

fn containers(real: &Real) -> String {
    podman(real, &["ps", "--all", "--format", "{{.Names}} {{.Status}}"]).stdout_text()
}

#[track_caller]
fn wait_until_gone(real: &Real, id: &str) {
    let gone = || (!containers(real).contains(id)).then_some(());
    eventually("the end of a container", || containers(real), gone);
}

#[test]
#[ignore = "needs podman: exit codes are the program's own, those of engines included"]
fn every_exit_code_is_the_programs_own() {
    let real = Real::new();
    for code in [0, 1, 3, 124, 125, 126, 127, 137, 255] {
        for language in [Language::Python, Language::Shell] {
            let (outcome, exit) = outcome(&real, language, &language.exits(code), &[]);
            let verdict = if code == 0 { "success" } else { "error" };
            assert_eq!(outcome["verdict"], verdict, "{outcome}");
            assert_eq!(exit, Some(i32::from(code)), "{outcome}");
        }
    }
}

#[test]
#[ignore = "needs podman: a program that overruns its time"]
fn a_program_that_never_ends_is_killed_at_its_deadline() {
    let real = Real::new();
    for language in [Language::Python, Language::Shell] {
        let (outcome, exit) = outcome(&real, language, language.never_ends(), &["--timeout", "1"]);
        assert_eq!((&outcome["verdict"], exit), (&json!("timeout"), Some(124)), "{outcome}");
    }
}

#[test]
#[ignore = "needs podman: a memory hog, of which podman records nothing"]
fn a_memory_hog_is_out_of_memory_though_podman_does_not_record_it() {
    let real = Real::new();
    let hog = Language::Python.takes_all_memory();
    let (outcome, exit) = outcome(&real, Language::Python, hog, &["--memory", "64"]);
    assert_eq!((&outcome["verdict"], exit), (&json!("out_of_memory"), Some(137)), "{outcome}");
    let hint = outcome["hint"].as_str().expect("a hint");
    assert!(hint.starts_with("used more than 64 MiB of memory"), "{hint}");
    // Podman's monitor would leave a file in the working directory.
    assert!(!real.home().join("oom").exists());
}

#[test]
#[ignore = "needs podman: output without end"]
fn a_flood_is_cut_and_the_program_ended() {
    let real = Real::new();
    let flags = ["--timeout", "1", "--max-output", "4096"];
    let (outcome, exit) = outcome(&real, Language::Python, Language::Python.floods(), &flags);
    assert_eq!((&outcome["verdict"], exit), (&json!("timeout"), Some(124)), "{outcome}");
    assert!(outcome["stdout_bytes"].as_u64() > Some(4096), "{outcome}");
    assert!(outcome["stderr_bytes"].as_u64() > Some(4096), "{outcome}");
}

#[test]
#[ignore = "needs podman: what it says where it starts nothing"]
fn what_podman_refuses_is_told_apart() {
    let real = Real::new();
    let (missing, exit) = outcome(&real, Language::Shell, "", &["--runtime", "das-test-none"]);
    assert_eq!((&missing["verdict"], exit), (&json!("sandbox_error"), Some(125)), "{missing}");
    let hint = missing["hint"].as_str().expect("a hint");
    assert!(hint.starts_with("the engine does not have the runtime"), "{hint}");

    let flags = ["--image", image(Language::Shell), "-l", "node", "-"];
    let none = das(&real, "run").args(["--json"]).args(flags).output();
    let none: Value = serde_json::from_slice(&none.stdout).expect("an object");
    assert_eq!((&none["verdict"], &none["exit_code"]), (&json!("cannot_start"), &json!(127)));

    let flags = ["--image", "das-test/none:1", "--json", "-"];
    let none = das(&real, "run").args(flags).output();
    let none: Value = serde_json::from_slice(&none.stdout).expect("an object");
    assert_eq!(none["verdict"], "sandbox_error");
    assert!(none["hint"].as_str().is_some_and(|hint| hint.contains("`das-test/none:1`")), "{none}");
}

#[test]
#[ignore = "needs podman: the environment that programs see"]
fn proxies_of_podmans_own_environment_stay_outside() {
    let real = Real::new();
    let secret = "http://user:secret@proxy.example:3128";
    let printed = run(&real, Language::Shell, "env")
        .env("HTTP_PROXY", secret)
        .env("https_proxy", secret)
        .output();
    let printed = printed.stdout_text();
    assert!(printed.contains("HOME=/tmp"), "{printed}");
    assert!(!printed.to_ascii_lowercase().contains("proxy"), "{printed}");
}

#[test]
#[ignore = "needs podman: containers of a das that is killed"]
fn a_killed_das_leaves_no_container() {
    let real = Real::new();
    let code = "print('ready', flush=True)\nwhile True: pass\n";
    let mut running = run(&real, Language::Python, code).args(["--timeout", "600"]).spawn();
    running.write(code);
    running.close_stdin();
    running.wait_for_stdout("ready");
    let owner = format!(".{}.", running.pid());
    let names = || {
        let format = "{{.Names}} {{.Labels}}";
        let listed = podman(&real, &["ps", "--all", "--format", format]).stdout_text();
        listed.lines().filter(|line| line.contains(&owner)).count()
    };
    assert_eq!(names(), 1, "{}", containers(&real));
    running.send_signal(Signal::KILL);
    running.wait_for_exit();
    eventually("the watchdog", || containers(&real), || (names() == 0).then_some(()));
}

#[test]
#[ignore = "needs podman: runs side by side"]
fn runs_side_by_side_do_not_meet() {
    let real = Real::new();
    image(Language::Shell);
    std::thread::scope(|scope| {
        let one = |number: u8| {
            let code = format!("echo {number}; exit {number}");
            let finished = run(&real, Language::Shell, &code).arg("--quiet").output();
            (number, finished)
        };
        let runs: Vec<_> = (1..=6).map(|number| scope.spawn(move || one(number))).collect();
        for run in runs {
            let (number, finished) = run.join().expect("a run");
            assert_eq!(finished.stdout_text(), format!("{number}\n"));
            assert_eq!(finished.code(), Some(i32::from(number)));
        }
    });
}

#[test]
#[ignore = "needs podman: every probe in every language"]
fn every_wall_holds_on_podman_in_every_language() {
    for language in Language::ALL {
        let real = Real::new();
        let policy = real.write("podman.json", &policy(language));
        let verify = ["verify", "-l", language.name(), "--engine", "podman", "--policy", &policy];
        let finished = Cli::new(&real).args(verify).output();
        assert_eq!(finished.code(), Some(0), "{}", finished.stdout_text());
    }
}

#[test]
#[ignore = "needs podman: its own filter of system calls"]
fn podmans_own_filter_opens_a_wall_and_das_says_which_calls_it_allows() {
    let real = Real::new();
    let own = "/usr/share/containers/seccomp.json";
    let only = ["--only", "syscalls", "--seccomp", own, "--image", image(Language::Python)];
    let finished = das(&real, "verify").arg("--json").args(only).output();
    let report: Value = serde_json::from_slice(&finished.stdout).expect("an object");
    assert_eq!(report["walls"][0]["state"], "OPEN", "{report}");
    let evidence = report["walls"][0]["evidence"].as_str().expect("a text");
    let allowed = "the profile of the policy allows mount, unshare, keyctl;";
    assert!(evidence.starts_with(allowed), "{evidence}");
}

#[test]
#[ignore = "needs podman: what the doctor says of it"]
fn the_doctor_finds_podman_usable_and_says_what_differs() {
    let real = Real::new();
    image(Language::Shell);
    let told = das(&real, "doctor").arg("--json").output();
    let report: Value = serde_json::from_slice(&told.stdout).expect("an object");
    assert_eq!((&report["usable"], told.code()), (&json!(true), Some(0)), "{report}");
    let findings = report["findings"].as_array().expect("findings");
    let of = |check: &str| findings.iter().find(|it| it["check"] == check).expect("a finding");
    assert_eq!(of("engine-version")["state"], "note");
    for (check, told) in [
        ("engine-version", "podman does not record that a program was killed for its memory"),
        ("proxies", "podman would hand on its own; das keeps them out"),
        ("runtimes", "podman has no list of them"),
        ("seccomp", "das's strict filter is in force"),
    ] {
        let found = of(check)["found"].as_str().expect("a text");
        assert!(found.contains(told), "{check}: {found}");
    }
    assert_eq!(of("leftovers")["state"], "ok");
    for check in ["daemon", "run", "limit-memory", "limit-pids", "limit-cpus", "limit-nofile"] {
        assert_eq!(of(check)["state"], "ok", "{}", of(check));
    }
}
