//! The real daemon of this machine, for the tests that are run on request.

use std::env;
use std::path::Path;

use tempfile::TempDir;

use super::cli::{Cli, Place};
use super::wait::eventually;

/// A home for programs that use the machine's Docker.
#[derive(Debug)]
pub(crate) struct Real {
    home: TempDir,
}

impl Real {
    pub(crate) fn new() -> Self {
        Self { home: TempDir::new().expect("a temporary directory") }
    }

    /// An image with a Python interpreter.
    pub(crate) fn python_image() -> String {
        image("DAS_INTEGRATION_IMAGE", "python:3.12-slim")
    }

    pub(crate) fn node_image() -> String {
        image("DAS_INTEGRATION_IMAGE_NODE", "node:22-slim")
    }

    /// An image with a POSIX shell.
    pub(crate) fn shell_image() -> String {
        image("DAS_INTEGRATION_IMAGE_SHELL", "alpine:3.20")
    }

    /// The real Docker CLI.
    pub(crate) fn docker(&self) -> Cli<'_> {
        Cli::program(self, Path::new("docker"))
    }

    /// The names of the containers, in any state, that have this label.
    #[track_caller]
    pub(crate) fn containers_with(&self, label: &str) -> Vec<String> {
        self.containers(&format!("label={label}"))
    }

    /// `--rm` removes a container some time after its client has exited.
    #[track_caller]
    pub(crate) fn wait_until_gone(&self, name: &str) {
        eventually(
            &format!("the end of container `{name}`"),
            || self.story(),
            || self.containers(&format!("name=^/{name}$")).is_empty().then_some(()),
        );
    }

    #[track_caller]
    fn containers(&self, filter: &str) -> Vec<String> {
        let list = ["ps", "--all", "--format", "{{.Names}}", "--filter", filter];
        let listed = self.docker().args(list).output();
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

fn image(variable: &str, default: &str) -> String {
    env::var(variable).unwrap_or_else(|_| default.to_owned())
}
