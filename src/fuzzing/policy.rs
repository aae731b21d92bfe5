//! Policy files: those that are accepted hold what they say, to the last word of the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{schema, shell};
use crate::engine::command::EnvChanges;
use crate::engine::{ClientProxies, EngineKind, Facts};
use crate::names::{RuntimeName, User};
use crate::plan::argv::Argv;
use crate::plan::{CheckedPolicy, Plan};
use crate::policy::fields::{FIELDS, Kind};
use crate::policy::{SandboxPolicy, SeccompChoice, json_schema};
use crate::tag::{Owner, RunTag};
use crate::work_dir;

/// The most bytes that the kernel takes in one word of a command line.
const LONGEST_WORD: usize = 128 * 1024;

/// The flags of `run` that stand alone.
const SWITCHES: [&str; 6] = [
    "--rm",
    "-i",
    "--read-only",
    "--read-only-tmpfs=false",
    "--no-healthcheck",
    "--http-proxy=false",
];

/// Those that take the next word, whatever it is, and stand in every command once.
const ONCE: [&str; 13] = [
    "--name",
    "--pull",
    "--network",
    "--tmpfs",
    "--memory",
    "--memory-swap",
    "--cpus",
    "--pids-limit",
    "--cap-drop",
    "--user",
    "--workdir",
    "--log-driver",
    "--entrypoint",
];

/// Those that take the next word, and stand there never or more than once as well.
const REPEATED: [&str; 6] =
    ["--runtime", "--ulimit", "--security-opt", "--mount", "--env", "--label"];

/// Reads a policy file and, where it is accepted, makes the command lines that it grants.
pub fn policy(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let policy = match SandboxPolicy::from_json(text) {
        Ok(policy) => policy,
        Err(error) => return assert_ne!(error.to_string(), ""),
    };
    let given = serde_json::from_str(text).expect("an accepted policy is JSON");
    assert!(schema::fits(&json_schema(), &given), "the schema refuses what is accepted");
    printed_and_read_back(&policy);
    harmless(&policy);
    // What follows depends on the machine where a directory or a file is named.
    let policy = SandboxPolicy { work_dir: None, seccomp: SeccompChoice::Default, ..policy };
    let checked = CheckedPolicy::new(policy.clone()).expect("it names no file");
    assert_eq!(checked.policy(), &policy);
    for language in policy.offered_languages() {
        let plan = checked.plan(language).expect("an offered language has a plan");
        assert_eq!(checked.plan(&format!(" {language} ")).ok().as_ref(), Some(&plan));
        for facts in engines() {
            command_line(&policy, &facts, &plan);
        }
    }
    assert!(checked.plan("no such language").is_err());
}

/// What is printed is the same policy, and is printed the same again.
fn printed_and_read_back(policy: &SandboxPolicy) {
    let printed = policy.to_json();
    let read = SandboxPolicy::from_json(&printed).expect("what is printed is accepted");
    assert_eq!(&read, policy);
    assert_eq!(read.to_json(), printed);
    let value = serde_json::from_str(&printed).expect("it is JSON");
    assert!(schema::fits(&json_schema(), &value), "the schema refuses what is printed");
}

/// Nobody is root, every number is in its range, and a directory is one option of a mount.
fn harmless(policy: &SandboxPolicy) {
    assert!(policy.user.uid() != 0 && policy.user.gid() != 0);
    let value = serde_json::to_value(policy).expect("a policy is plain data");
    for field in FIELDS {
        if let Kind::Whole(..) | Kind::Fraction(..) = field.kind {
            let number = value[field.key].as_f64().expect("a number");
            assert!(field.kind.holds(number), "{} is {number}", field.key);
        }
    }
    if let Some(dir) = &policy.work_dir
        && let Ok(source) = work_dir::mountable(Path::new(&dir.path))
    {
        let mount = format!("type=bind,source={source},target=/work,readonly");
        let options: Vec<&str> = mount.split(',').collect();
        assert_eq!(options.len(), 4, "{mount:?}");
        assert!(!mount.contains(['"', '\n', '\0']), "{mount:?}");
    }
}

/// An engine of each kind.
fn engines() -> [Facts; 3] {
    let facts = |kind: EngineKind, client_proxies, most_processes| Facts {
        kind,
        program: kind.name().to_owned(),
        env: EnvChanges::default(),
        client_proxies,
        most_processes,
    };
    [
        facts(EngineKind::Docker, ClientProxies::None, None),
        facts(EngineKind::Podman, ClientProxies::Configured, Some(4096)),
        facts(EngineKind::Nerdctl, ClientProxies::None, None),
    ]
}

fn command_line(policy: &SandboxPolicy, facts: &Facts, plan: &Plan) {
    let argv = Argv::new(facts, plan, &RunTag::known(&Owner::Nobody, "0123456789abcdef"));
    let words: Vec<&str> = argv.words().collect();
    for word in &words {
        assert!(!word.contains('\0') && word.len() < LONGEST_WORD, "{word:?} cannot be passed on");
    }
    let read = Command::read(&words);
    assert_eq!(read.image, plan.image().as_str());
    assert_eq!(read.rest.first(), Some(&plan.interpreter()));
    let is_program = |word: &&str| !word.is_empty() && !word.starts_with('-');
    assert!(read.rest.first().is_some_and(is_program), "{:?} is no program", read.rest);
    if let Some(row) = policy.languages.get(plan.language()) {
        assert_eq!((read.image, &read.rest), (row.image.as_str(), &words_of(&row.command)));
    }
    let mut switches = vec!["--rm", "-i", "--read-only"];
    switches.extend(facts.kind.no_more_scratch_flag());
    switches.extend(facts.kind.no_proxy_flag());
    switches.push("--no-healthcheck");
    assert_eq!(read.switches, switches);
    limits(policy, &read);
    environment(policy, facts, &argv, &read);
    pasted(&argv, &words);
}

fn words_of(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}

/// A command line as an engine's client reads it.
struct Command<'a> {
    switches: Vec<&'a str>,
    options: BTreeMap<&'a str, Vec<&'a str>>,
    image: &'a str,
    rest: Vec<&'a str>,
}

impl<'a> Command<'a> {
    /// Flags come first, and no other than das's own; the first word that is none is the image.
    fn read(words: &[&'a str]) -> Self {
        let mut words = words[1..].iter().copied();
        assert_eq!(words.next(), Some("run"));
        let (mut switches, mut options) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        loop {
            let word = words.next().expect("an image");
            if SWITCHES.contains(&word) {
                switches.push(word);
            } else if ONCE.contains(&word) || REPEATED.contains(&word) {
                options.entry(word).or_default().push(words.next().expect("a value"));
            } else {
                assert!(!word.starts_with('-'), "{word:?} is taken for a flag");
                return Self { switches, options, image: word, rest: words.collect() };
            }
        }
    }

    fn values(&self, flag: &str) -> &[&'a str] {
        self.options.get(flag).map_or(&[], Vec::as_slice)
    }

    fn value(&self, flag: &str) -> &'a str {
        match self.values(flag) {
            [value] => value,
            other => panic!("{flag} is there with {other:?}"),
        }
    }
}

/// Every wall stands, as high as the policy says.
fn limits(policy: &SandboxPolicy, read: &Command) {
    for flag in ONCE {
        assert_eq!(read.values(flag).len(), 1, "{flag}");
    }
    let user: User = read.value("--user").parse().expect("a user that is not root");
    assert_eq!(user, policy.user);
    let tmpfs = format!("/tmp:rw,noexec,nosuid,nodev,mode=1777,size={}m", policy.tmpfs_mb);
    for (flag, value) in [
        ("--pull", "never".to_owned()),
        ("--network", if policy.network { "bridge" } else { "none" }.to_owned()),
        ("--tmpfs", tmpfs),
        ("--memory", format!("{}m", policy.memory_mb)),
        ("--memory-swap", format!("{}m", policy.memory_mb)),
        ("--pids-limit", policy.pids_limit.to_string()),
        ("--cap-drop", "ALL".to_owned()),
        ("--workdir", "/tmp".to_owned()),
        ("--log-driver", "none".to_owned()),
        ("--entrypoint", String::new()),
    ] {
        assert_eq!(read.value(flag), value, "{flag}");
    }
    let cpus: f64 = read.value("--cpus").parse().expect("a number");
    assert_eq!(cpus.to_bits(), policy.cpus.to_bits());
    assert!(!read.value("--cpus").contains(['e', 'E']), "an engine reads no exponents");
    let runtime: Vec<&str> = policy.runtime.iter().map(RuntimeName::as_str).collect();
    assert_eq!(read.values("--runtime"), runtime);
    assert_eq!(read.values("--security-opt"), ["no-new-privileges"]);
    assert!(read.values("--ulimit").contains(&"core=0:0"));
    assert_eq!(read.values("--mount"), [""; 0]);
}

/// Variables with values are the policy's and das's own; those without are unset for the client.
fn environment(policy: &SandboxPolicy, facts: &Facts, argv: &Argv, read: &Command) {
    let variables = read.values("--env");
    for (name, value) in &policy.env {
        let is_last = |variable: &&&str| variable.split('=').next() == Some(name.as_str());
        let last = variables.iter().rfind(is_last).expect("every variable is there");
        assert_eq!(*last, format!("{name}={value}"));
    }
    let unset = argv.command_line().env.unset;
    for name in variables.iter().filter(|variable| !variable.contains('=')) {
        assert!(unset.iter().any(|it| it == name), "{name} would be handed on");
    }
    let names: Vec<&str> = variables.iter().filter_map(|it| it.split('=').next()).collect();
    let different: BTreeSet<&str> = names.iter().copied().collect();
    for proxy in facts.proxy_names() {
        assert!(different.contains(proxy.as_str()), "the client adds {proxy}");
    }
    // The policy may give `HOME` another value, after das's own.
    assert!(names.len() <= different.len() + 1, "{names:?}");
}

/// A shell reads the words that are executed.
fn pasted(argv: &Argv, words: &[&str]) {
    let shown = argv.to_string();
    let read = shell::words(&shown);
    let unset = argv.command_line().env.unset;
    let own = if unset.is_empty() { 0 } else { 1 + 2 * unset.len() };
    assert_eq!(read[own..], *words, "{shown}");
}
