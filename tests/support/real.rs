//! The real daemon of this machine, for the tests that are run on request.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::cli::{Cli, Place};
use super::language::Language;
use super::wait::eventually;

/// The policy file in a home.
const POLICY: &str = "policy.json";

/// A home for programs that use the machine's Docker.
#[derive(Debug)]
pub(crate) struct Real {
    home: TempDir,
}

/// One change to the command line of `docker run`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    /// A flag, and the word that follows it where it begins so, is left out.
    Drop(&'static str, &'static str),
    /// A flag without a value is left out.
    DropBare(&'static str),
    /// Words are added behind `run`.
    Add(&'static [&'static str]),
}

impl Real {
    pub(crate) fn new() -> Self {
        let real = Self { home: TempDir::new().expect("a temporary directory") };
        real.write(POLICY, &Language::policy().to_string());
        real
    }

    /// An image with a Python interpreter.
    pub(crate) fn python_image() -> String {
        Language::Python.image()
    }

    pub(crate) fn node_image() -> String {
        Language::Node.image()
    }

    /// An image with a POSIX shell.
    pub(crate) fn shell_image() -> String {
        Language::Shell.image()
    }

    /// The real Docker CLI.
    pub(crate) fn docker(&self) -> Cli<'_> {
        Cli::program(self, Path::new(&engine()))
    }

    /// `das` with a policy that names the images of these tests, so that nothing is pulled.
    pub(crate) fn das(&self) -> Cli<'_> {
        Cli::new(self).env("DAS_POLICY", self.policy())
    }

    /// `das run` of a program in a language.
    pub(crate) fn run(&self, language: Language, code: impl AsRef<[u8]>) -> Cli<'_> {
        self.das().args(["run", "-l", language.name(), "-"]).stdin(code)
    }

    /// Whether the tests run on podman.
    pub(crate) fn is_podman() -> bool {
        engine().contains("podman")
    }

    /// The policy file of these tests.
    pub(crate) fn policy(&self) -> String {
        self.home.path().join(POLICY).into_os_string().into_string().expect("a plain path")
    }

    /// Writes a file into the home and gives its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
        fs::write(&path, text).expect("a writable directory");
        path.into_os_string().into_string().expect("a plain path")
    }

    /// A directory with this configuration of the Docker client, for `DOCKER_CONFIG`.
    pub(crate) fn docker_config(&self, config: &Value) -> String {
        let dir = self.home.path().join("client");
        fs::create_dir(&dir).expect("one configuration for each home");
        fs::write(dir.join("config.json"), config.to_string()).expect("a fresh directory");
        dir.into_os_string().into_string().expect("a plain path")
    }

    /// A Docker CLI that changes each `run` in these ways: what das would be without a wall.
    pub(crate) fn docker_with(&self, changes: &[Change]) -> PathBuf {
        let dir = self.home.path().join("changed");
        fs::create_dir(&dir).expect("one change for each home");
        fs::write(dir.join("changes"), changes_file(changes)).expect("a fresh directory");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/changed-docker.sh");
        symlink(program, dir.join("docker")).expect("a fresh directory");
        dir.join("docker")
    }

    /// The names of the containers, in any state, that have this label.
    #[track_caller]
    pub(crate) fn containers_with(&self, label: &str) -> Vec<String> {
        self.containers(&["--filter", &format!("label={label}"), "--format", "{{.Names}}"])
    }

    /// The names of the containers, in any state, of the `das` with this process id.
    #[track_caller]
    pub(crate) fn containers_of(&self, pid: u32) -> Vec<String> {
        self.owned_by(pid, &[])
    }

    #[track_caller]
    fn owned_by(&self, pid: u32, filters: &[&str]) -> Vec<String> {
        // Podman knows no other way to ask for a label.
        let format = "{{.Names}} {{.Labels}}";
        let lines = self.containers(&[&["--format", format], filters].concat());
        let owned = lines.iter().filter_map(|line| line.split_once(' '));
        let owned = owned.filter(|(_, owner)| owner.contains(&format!(".{pid}.")));
        owned.map(|(name, _)| name.to_owned()).collect()
    }

    /// Waits until the `das` with this process id has a container that runs.
    #[track_caller]
    pub(crate) fn wait_for_container_of(&self, pid: u32) -> String {
        eventually(
            &format!("the container of process {pid}"),
            || self.story(),
            || self.owned_by(pid, &["--filter", "status=running"]).pop(),
        )
    }

    /// Waits until no container of the `das` with this process id is left.
    #[track_caller]
    pub(crate) fn wait_until_none_of(&self, pid: u32) {
        eventually(
            &format!("the end of the containers of process {pid}"),
            || self.story(),
            || self.containers_of(pid).is_empty().then_some(()),
        );
    }

    /// `--rm` removes a container some time after its client has exited.
    #[track_caller]
    pub(crate) fn wait_until_gone(&self, name: &str) {
        let filter = format!("name=^/{name}$");
        let args = ["--filter", &filter, "--format", "{{.Names}}"];
        eventually(
            &format!("the end of container `{name}`"),
            || self.story(),
            || self.containers(&args).is_empty().then_some(()),
        );
    }

    #[track_caller]
    fn containers(&self, args: &[&str]) -> Vec<String> {
        let listed = self.docker().args(["ps", "--all"]).args(args.iter().copied()).output();
        assert_eq!(listed.code(), Some(0), "docker ps: {}", listed.stderr_text());
        listed.stdout_text().lines().map(str::to_owned).collect()
    }
}

impl Place for Real {
    fn home(&self) -> &Path {
        self.home.path()
    }

    fn environment(&self) -> Vec<(String, String)> {
        env::vars().filter(|(name, _)| name == "PATH" || name.starts_with("DOCKER_")).collect()
    }

    fn story(&self) -> String {
        let listed = self.docker().args(["ps", "--all"]).output();
        format!("containers of the real daemon:\n{}", listed.stdout_text())
    }
}

/// The program of the engine that these tests use: docker, or one that is like it.
fn engine() -> String {
    env::var("DAS_INTEGRATION_ENGINE").unwrap_or_else(|_| "docker".to_owned())
}

/// What `changed-docker.sh` reads.
fn changes_file(changes: &[Change]) -> String {
    let mut cases = String::new();
    let mut added = String::new();
    for change in changes {
        match change {
            Change::Drop(flag, value) => {
                writeln!(cases, "'{flag} {value}'*) echo 2 ;;").expect("a growing text");
            }
            Change::DropBare(flag) => {
                writeln!(cases, "'{flag} '*) echo 1 ;;").expect("a growing text");
            }
            Change::Add(words) => added.extend(words.iter().map(|word| format!("{word} "))),
        }
    }
    format!("added='{added}'\nleft_out() {{\ncase \"$1 $2\" in\n{cases}*) echo 0 ;;\nesac\n}}\n")
}
