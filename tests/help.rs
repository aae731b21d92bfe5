//! What das says of itself: help, manual pages, completions.

use std::path::Path;

use clap::Command;
use docker_agent_sandbox::cli;
use docker_agent_sandbox::outcome::VERDICTS;

use crate::support::{Cli, Das, StandIn};

/// Commands that only lead to others, or take one word and nothing else.
const WITHOUT_EXAMPLES: [&str; 3] = ["policy schema", "image list", "image pull"];

/// Every command with the words that call it, das itself first.
fn commands() -> Vec<(Vec<String>, Command)> {
    fn collect(words: &[String], command: &Command, all: &mut Vec<(Vec<String>, Command)>) {
        all.push((words.to_vec(), command.clone()));
        for sub in command.get_subcommands() {
            collect(&[words, &[sub.get_name().to_owned()]].concat(), sub, all);
        }
    }
    let mut all = Vec::new();
    collect(&[], &cli::command(), &mut all);
    all
}

fn after_help(command: &Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

/// The lines of the examples of a command, without their indentation.
fn examples(command: &Command) -> Vec<String> {
    let text = after_help(command);
    let lines = text.lines().skip_while(|line| !line.starts_with("Example"));
    lines.skip(1).map_while(|line| line.strip_prefix("  ")).map(str::to_owned).collect()
}

#[test]
fn every_help_fits_into_eighty_columns() {
    let stand_in = StandIn::new();
    for (words, _) in commands() {
        for flag in ["-h", "--help"] {
            let finished = Das::new(&stand_in).args(&words).arg(flag).env("COLUMNS", "80").output();
            assert_eq!((finished.code(), finished.stderr_text().as_str()), (Some(0), ""));
            for line in finished.stdout_text().lines() {
                assert!(line.chars().count() <= 80, "das {} {flag}: {line}", words.join(" "));
            }
        }
    }
}

#[test]
fn prose_is_broken_where_the_terminal_ends_and_not_before() {
    for (words, command) in commands() {
        let text = after_help(&command);
        let prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
        let lines: Vec<&str> = text.lines().collect();
        let broken = lines.windows(2).find(|pair| prose(pair[0]) && prose(pair[1]));
        assert_eq!(broken, None, "das {}", words.join(" "));
        let long = lines.iter().find(|line| line.starts_with(' ') && line.chars().count() > 80);
        assert_eq!(long, None, "das {}", words.join(" "));
    }
}

#[test]
fn every_command_has_examples_that_it_accepts() {
    for (words, command) in commands() {
        let name = words.join(" ");
        let examples = examples(&command);
        assert_eq!(examples.is_empty(), WITHOUT_EXAMPLES.contains(&name.as_str()), "das {name}");
        for example in examples {
            let example = example.replace("$DIGEST", &"0".repeat(64));
            let all = shlex::split(&example).expect("a command line");
            let das = all.iter().position(|word| word == "das" || word.contains("$(das"));
            let das = das.unwrap_or_else(|| panic!("no das in `{example}`"));
            let ends = |word: &&String| !["|", ">", "2>"].contains(&word.as_str());
            let call: Vec<String> = all[das..].iter().take_while(ends).cloned().collect();
            let inner = call[0].strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
            let call = inner.map_or(call.clone(), |inner| shlex::split(inner).expect("words"));
            assert!(cli::parses(&call), "das {name}: {example}");
        }
    }
}

#[test]
fn the_help_of_run_tells_the_exit_code_of_every_verdict() {
    let command = cli::command();
    let text = after_help(command.find_subcommand("run").expect("das run"));
    let (_, codes) = text.split_once("Exit codes: ").expect("the exit codes");
    for (_, name, _, told) in VERDICTS {
        assert!(codes.contains(&name.replace('_', " ")), "{name}: {codes}");
        let numbers = told.split(|c: char| !c.is_ascii_digit()).filter(|it| it.len() == 3);
        for number in numbers {
            assert!(codes.contains(number), "{number} of {name}: {codes}");
        }
    }
}

#[test]
fn without_a_command_das_says_which_there_are() {
    let stand_in = StandIn::new();
    let finished = Das::new(&stand_in).output();
    assert_eq!((finished.code(), finished.stdout_text().as_str()), (Some(2), ""));
    for (words, _) in commands().iter().filter(|(words, _)| words.len() == 1) {
        assert!(finished.stderr_text().contains(&format!("\n  {}", words[0])), "{words:?}");
    }
    let misspelt = Das::new(&stand_in).arg("explian").output();
    assert!(misspelt.stderr_text().contains("a similar subcommand exists: 'explain'"));
    assert_eq!(misspelt.code(), Some(2));
}

#[test]
fn the_version_is_the_packages() {
    let stand_in = StandIn::new();
    let version = format!("das {}\n", env!("CARGO_PKG_VERSION"));
    Das::new(&stand_in).arg("--version").stdout(version).status(0);
}

#[test]
fn every_command_has_a_manual_page_with_each_of_its_flags() {
    let stand_in = StandIn::new();
    for (words, command) in commands() {
        let page = Das::new(&stand_in).arg("man").args(&words).output();
        assert_eq!((page.code(), page.stderr_text().as_str()), (Some(0), ""));
        let page = page.stdout_text();
        let title = [vec!["das".to_owned()], words.clone()].concat().join("-");
        assert!(page.contains(&format!(".TH {title} 1 ")), "{title}: {page}");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
            assert!(page.contains(section), "{title}: {section}");
        }
        let flags = command.get_arguments().filter_map(|arg| arg.get_long());
        for flag in flags.filter(|flag| *flag != "version") {
            let flag = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(page.contains(&flag), "{title}: {flag}");
        }
    }
    Das::new(&stand_in)
        .args(["man", "image", "paint"])
        .stderr("error: das has no command `image paint`\n\nhint: `das --help` lists them\n")
        .status(2);
}

#[test]
fn every_shell_has_completions_that_name_every_command() {
    let stand_in = StandIn::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = Das::new(&stand_in).args(["completions", shell]).output();
        assert_eq!((script.code(), script.stderr_text().as_str()), (Some(0), ""));
        for (words, _) in commands().iter().filter(|(words, _)| words.len() == 1) {
            assert!(script.stdout_text().contains(&words[0]), "{shell}: {words:?}");
        }
    }
}

#[test]
fn bash_completes_what_is_begun() {
    let stand_in = StandIn::new();
    let script = Das::new(&stand_in).args(["completions", "bash"]).output().stdout_text();
    for (line, completed) in [("das expl", "explain"), ("das run --mem", "--memory")] {
        let words: Vec<&str> = line.split(' ').collect();
        let last = words.len() - 1;
        let test = format!(
            "{script}\nCOMP_WORDS=({line}); COMP_CWORD={last}\n\
             _das das {} {}; echo \"${{COMPREPLY[@]}}\"",
            words[last],
            words[last - 1]
        );
        let bash = Cli::program(&stand_in, Path::new("/bin/bash")).args(["-c", &test]);
        bash.stdout(format!("{completed}\n")).status(0);
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let stand_in = StandIn::new();
    for args in [&["man"][..], &["completions", "bash"], &["policy", "schema"], &["explain"]] {
        let closed = crate::support::Pipe::Closed;
        let das = Das::new(&stand_in).args(args.iter().copied());
        let finished = das.pipes(closed, crate::support::Pipe::Read).spawn().wait();
        assert_eq!((finished.code(), finished.stderr_text().as_str()), (Some(0), ""), "{args:?}");
    }
}
