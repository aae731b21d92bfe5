//! Properties of the command line as a value, for many more policies than programs can be
//! started.

use std::fs;
use std::path::{Path, PathBuf};

use docker_agent_sandbox::SandboxPolicy;
use docker_agent_sandbox::engine::command::EnvChanges;
use docker_agent_sandbox::engine::{ClientProxies, EngineKind, Facts};
use docker_agent_sandbox::names::RuntimeName;
use docker_agent_sandbox::plan::argv::Argv;
use docker_agent_sandbox::plan::{CheckedPolicy, Plan};
use docker_agent_sandbox::policy::SeccompChoice;
use docker_agent_sandbox::tag::{Owner, RunTag};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use super::any_policy::any_policy;
use crate::support::{Cli, Real};

/// A command line with what it was made from.
#[derive(Debug)]
struct Case {
    policy: SandboxPolicy,
    facts: Facts,
    plan: Plan,
    argv: Argv,
}

/// Checks a property of every command line.
#[track_caller]
fn for_any_case(property: impl Fn(Case) -> Result<(), TestCaseError>) {
    let dir = TempDir::new().expect("a temporary directory");
    let mounted = fs::canonicalize(dir.path()).expect("a directory").join("my data");
    fs::create_dir(&mounted).expect("a writable directory");
    let mounted = mounted.to_str().expect("a plain name").to_owned();
    TestRunner::new(Config { cases: 64, ..Config::default() })
        .run(&any_case(mounted), property)
        .expect("a property of every command line");
}

/// Any command line. The directory is what it may mount.
fn any_case(dir: String) -> impl Strategy<Value = Case> {
    let policies = any_policy(vec![dir], vec!["auto".to_owned()]);
    (policies, any_facts(), any::<prop::sample::Index>()).prop_map(|(policy, facts, index)| {
        // The strict filter is a file in a home, and this process has that of whoever tests.
        let policy = SandboxPolicy { seccomp: SeccompChoice::Default, ..policy };
        let language = (*index.get(&policy.offered_languages())).to_owned();
        let checked = CheckedPolicy::new(policy.clone()).expect("an accepted policy");
        let plan = checked.plan(&language).expect("an offered language");
        let argv = Argv::new(&facts, &plan, &RunTag::new(&Owner::Nobody, plan.timeout()));
        Case { policy, facts, plan, argv }
    })
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let kinds = vec![EngineKind::Docker, EngineKind::Podman, EngineKind::Nerdctl];
    let proxies = vec![ClientProxies::None, ClientProxies::Configured];
    let env = vec![
        EnvChanges::default(),
        EnvChanges {
            set: vec![("DOCKER_HOST".into(), "unix:///run/user/1/my docker.sock".into())],
            unset: vec!["DOCKER_CONTEXT".into()],
        },
    ];
    (
        prop::sample::select(kinds),
        prop::sample::select(vec!["docker", "/opt/my tools/docker"]),
        prop::sample::select(proxies),
        prop::sample::select(env),
        prop::sample::select(vec![None, Some(4096)]),
    )
        .prop_map(|(kind, program, client_proxies, env, most_processes)| Facts {
            kind,
            most_processes,
            program: program.to_owned(),
            env,
            client_proxies,
        })
}

impl Case {
    fn words(&self) -> Vec<&str> {
        self.argv.words().collect()
    }

    /// The flags, without the program, `run`, the image and the interpreter.
    fn flags(&self) -> Vec<&str> {
        let words = self.words();
        let image =
            words.iter().rposition(|word| word.starts_with("docker-agent-sandbox.expires="));
        words[2..=image.expect("a label")].to_vec()
    }

    /// All values of a flag.
    fn values(&self, flag: &str) -> Vec<&str> {
        self.flags().windows(2).filter(|pair| pair[0] == flag).map(|pair| pair[1]).collect()
    }

    fn value(&self, flag: &str) -> &str {
        match self.values(flag).as_slice() {
            [value] => value,
            other => panic!("{flag} is there with {other:?}"),
        }
    }
}

#[test]
fn a_shell_reads_the_very_words_that_are_executed() {
    let place = Real::new();
    for_any_case(|case| {
        let script = format!("printf '%s\\0' {}", case.argv);
        let shell = Cli::program(&place, Path::new("/bin/sh")).args(["-c", &script]).output();
        let read: Vec<&[u8]> =
            shell.stdout.strip_suffix(b"\0").unwrap().split(|byte| *byte == 0).collect();
        let line = case.argv.command_line();
        let mut expected = Vec::new();
        if !line.env.unset.is_empty() {
            expected.push("env".to_owned());
        }
        for name in &line.env.unset {
            expected.extend(["-u".to_owned(), name.to_str().unwrap().to_owned()]);
        }
        for (name, value) in &line.env.set {
            expected.push(format!("{}={}", name.to_str().unwrap(), value.to_str().unwrap()));
        }
        expected.extend(case.words().into_iter().map(str::to_owned));
        let expected: Vec<&[u8]> = expected.iter().map(String::as_bytes).collect();
        prop_assert_eq!(read, expected);
        Ok(())
    });
}

#[test]
fn what_is_spawned_is_what_is_shown() {
    for_any_case(|case| {
        let line = case.argv.command_line();
        prop_assert_eq!(line.program, PathBuf::from(&case.facts.program));
        let args: Vec<&str> = line.args.iter().map(|arg| arg.to_str().unwrap()).collect();
        prop_assert_eq!(&args, &case.words()[1..]);
        Ok(())
    });
}

#[test]
fn every_wall_stands_in_every_command() {
    for_any_case(|case| {
        let flags = case.flags();
        for flag in ["--rm", "-i", "--read-only", "--no-healthcheck"] {
            prop_assert_eq!(flags.iter().filter(|word| **word == flag).count(), 1, "{}", flag);
        }
        prop_assert_eq!(case.value("--cap-drop"), "ALL");
        let options = case.values("--security-opt");
        prop_assert_eq!(options[0], "no-new-privileges");
        let filters: Vec<&str> =
            options[1..].iter().map(|it| it.strip_prefix("seccomp=/").unwrap_or("none")).collect();
        let own = usize::from(case.policy.seccomp != SeccompChoice::Default);
        prop_assert!(filters.len() == own && !filters.contains(&"none"), "{:?}", options);
        prop_assert_eq!(case.value("--pull"), "never");
        prop_assert_eq!(case.value("--log-driver"), "none");
        prop_assert_eq!(case.value("--entrypoint"), "");
        prop_assert!(case.values("--ulimit").contains(&"core=0:0"));
        for flag in [
            "--privileged",
            "--cap-add",
            "--device",
            "--volume",
            "-v",
            "--publish",
            "-p",
            "--pid",
            "--ipc",
            "--userns",
            "--volumes-from",
            "--env-file",
            "--detach",
            "-d",
        ] {
            prop_assert!(!flags.contains(&flag), "{}", flag);
        }
        Ok(())
    });
}

#[test]
fn no_argument_exceeds_the_policy() {
    for_any_case(|case| {
        let policy = &case.policy;
        prop_assert_eq!(case.value("--memory"), format!("{}m", policy.memory_mb));
        prop_assert_eq!(case.value("--memory-swap"), format!("{}m", policy.memory_mb));
        prop_assert_eq!(case.value("--cpus").parse::<f64>(), Ok(policy.cpus));
        prop_assert_eq!(case.value("--pids-limit"), policy.pids_limit.to_string());
        let tmpfs = format!("/tmp:rw,noexec,nosuid,nodev,mode=1777,size={}m", policy.tmpfs_mb);
        prop_assert_eq!(case.value("--tmpfs"), tmpfs);
        let nofile = format!("nofile={0}:{0}", policy.nofile_limit);
        let processes = case.facts.most_processes.map(|most| format!("nproc={most}:{most}"));
        let expected = [nofile.as_str(), "core=0:0"].into_iter().chain(processes.as_deref());
        prop_assert_eq!(case.values("--ulimit"), expected.collect::<Vec<_>>());
        prop_assert_eq!(case.value("--user"), policy.user.to_string());
        let network = if policy.network { "bridge" } else { "none" };
        prop_assert_eq!(case.value("--network"), network);
        let runtime: Vec<&str> = policy.runtime.iter().map(RuntimeName::as_str).collect();
        prop_assert_eq!(case.values("--runtime"), runtime);
        Ok(())
    });
}

#[test]
fn only_the_directory_of_the_policy_is_mounted() {
    for_any_case(|case| {
        match &case.policy.work_dir {
            None => {
                prop_assert_eq!(case.values("--mount"), [""; 0]);
                prop_assert_eq!(case.value("--workdir"), "/tmp");
            }
            Some(dir) => {
                let access = if dir.writable { "" } else { ",readonly" };
                let source = dir.path.display();
                let mount = format!("type=bind,source={source},target=/work{access}");
                prop_assert_eq!(case.value("--mount"), mount);
                prop_assert_eq!(case.value("--workdir"), "/work");
            }
        }
        Ok(())
    });
}

#[test]
fn the_image_and_the_interpreter_come_last() {
    for_any_case(|case| {
        let words = case.words();
        let rest = &words[2 + case.flags().len()..];
        prop_assert_eq!(rest[0], case.plan.image().as_str());
        prop_assert_eq!(rest[1], case.plan.interpreter());
        let row = case.policy.languages.get(case.plan.language());
        if let Some(row) = row {
            prop_assert_eq!(&rest[1..], &row.command);
        }
        Ok(())
    });
}

#[test]
fn only_the_policys_variables_have_values() {
    for_any_case(|case| {
        let variables = case.values("--env");
        for (name, value) in &case.policy.env {
            let variable = format!("{name}={value}");
            prop_assert!(variables.contains(&variable.as_str()));
        }
        // Named without a value and absent from the client's own environment: unset.
        let unset: Vec<String> = case
            .argv
            .command_line()
            .env
            .unset
            .iter()
            .map(|name| name.to_str().unwrap().to_owned())
            .collect();
        for variable in variables.iter().filter(|variable| !variable.contains('=')) {
            prop_assert!(unset.iter().any(|name| name == variable), "{}", variable);
        }
        Ok(())
    });
}
