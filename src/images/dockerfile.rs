//! The Dockerfile that adds packages to an image of a registry.
//!
//! It is text and nothing else; who builds it is not its business. It needs no build context, no
//! `BuildKit`, and leaves no cache behind.

use super::inspect::BAKED_LABEL;
use super::offline::Interpreter;
use super::package::Package;
use super::tags;
use crate::names::{ImageRef, User};

/// What a Dockerfile is made of.
#[derive(Debug, Clone, Copy)]
pub struct Recipe<'a> {
    /// The image that is added to.
    pub base: &'a ImageRef,
    /// Whose packages they are.
    pub interpreter: Interpreter,
    /// What is added; not empty.
    pub packages: &'a [Package],
    /// Who programs run as in the end.
    pub user: User,
}

impl Recipe<'_> {
    /// The Dockerfile. Only its installer runs as root, and no package's own code runs: Python's
    /// packages come built, and npm's scripts stay off.
    pub fn dockerfile(&self) -> String {
        let Self { base, interpreter, packages, user } = self;
        let install = install(*interpreter, packages);
        let description = tags::description(base.as_str(), packages);
        format!(
            "FROM {base}\n\
             USER 0:0\n\
             RUN {install}\n\
             LABEL {BAKED_LABEL}=\"{description}\"\n\
             USER {user}\n\
             WORKDIR /tmp\n"
        )
    }

    /// The name of the image that it makes.
    pub fn tag(&self) -> ImageRef {
        tags::baked(self.interpreter, self.base.as_str(), self.packages)
    }
}

/// One command, so that what it removes is in no layer.
fn install(interpreter: Interpreter, packages: &[Package]) -> String {
    let names = quoted(packages);
    match interpreter {
        Interpreter::Python => format!(
            "PIP_ROOT_USER_ACTION=ignore python -I -m pip install --no-cache-dir --no-input \
             --disable-pip-version-check --only-binary :all: {names}"
        ),
        // Node.js looks for packages in every directory above the program's, so in this one.
        Interpreter::Node => format!(
            "npm install --prefix / --cache /tmp/npm --ignore-scripts --no-audit --no-fund \
             --no-save --no-package-lock {names} && rm -rf /tmp/npm"
        ),
        Interpreter::Shell => format!(
            "if command -v apk >/dev/null; then apk add --no-cache {names}; \
             elif command -v apt-get >/dev/null; then apt-get update \
             && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends {names} \
             && rm -rf /var/lib/apt/lists /var/cache/apt; \
             else echo 'das: this image has neither apk nor apt-get' >&2; exit 1; fi"
        ),
    }
}

/// The grammar of packages has no quotes, so quotes make each one word and nothing more.
fn quoted(packages: &[Package]) -> String {
    let words: Vec<String> = packages.iter().map(|package| format!("'{package}'")).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dockerfile(base: &str, interpreter: Interpreter, names: &[&str]) -> String {
        let parse = |name: &&str| Package::parse(interpreter, name).unwrap();
        let packages: Vec<Package> = names.iter().map(parse).collect();
        let base = base.parse().unwrap();
        Recipe { base: &base, interpreter, packages: &packages, user: User::NOBODY }.dockerfile()
    }

    #[test]
    fn python_packages_come_built_and_without_a_cache() {
        let text = dockerfile("python:3.12-slim", Interpreter::Python, &["numpy==2.1.3", "a[b]"]);
        assert_eq!(
            text,
            "FROM python:3.12-slim\n\
             USER 0:0\n\
             RUN PIP_ROOT_USER_ACTION=ignore python -I -m pip install --no-cache-dir --no-input \
             --disable-pip-version-check --only-binary :all: 'numpy==2.1.3' 'a[b]'\n\
             LABEL docker-agent-sandbox.baked=\"python:3.12-slim with a[b] numpy==2.1.3\"\n\
             USER 65534:65534\n\
             WORKDIR /tmp\n"
        );
    }

    #[test]
    fn npm_runs_no_scripts_and_its_cache_goes_in_the_same_layer() {
        let text = dockerfile("node:22-slim", Interpreter::Node, &["@scope/name@1.0.0"]);
        let run = text.lines().find(|line| line.starts_with("RUN ")).unwrap();
        assert_eq!(
            run,
            "RUN npm install --prefix / --cache /tmp/npm --ignore-scripts --no-audit --no-fund \
             --no-save --no-package-lock '@scope/name@1.0.0' && rm -rf /tmp/npm"
        );
    }

    #[test]
    fn the_shells_packages_come_from_apk_or_apt() {
        let text = dockerfile("alpine:3.20", Interpreter::Shell, &["jq", "g++=4:12.2.0-3"]);
        for part in [
            "apk add --no-cache 'jq' 'g++=4:12.2.0-3';",
            "--no-install-recommends 'jq' 'g++=4:12.2.0-3' && rm -rf /var/lib/apt/lists",
            "exit 1; fi\n",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }

    #[test]
    fn every_dockerfile_ends_as_a_user_without_rights() {
        for interpreter in [Interpreter::Python, Interpreter::Node, Interpreter::Shell] {
            let text =
                dockerfile("base@sha256:0123456789abcdef0123456789abcdef", interpreter, &["x"]);
            let users: Vec<_> = text.lines().filter(|line| line.starts_with("USER ")).collect();
            assert_eq!(users, ["USER 0:0", "USER 65534:65534"]);
            assert!(text.ends_with("USER 65534:65534\nWORKDIR /tmp\n"), "{text}");
        }
    }
}
