//! The engine behind the program: whether it answers, its versions, and what it says of itself.

use serde_json::Value;

use super::ask::{Silence, ask_json, text};
use super::disk;
use super::finding::Finding;
use super::versions::{self, Version};
use crate::engine::{Engine, EngineKind, MemoryKills};
use crate::outcome::failure::Failure;
use crate::policy::SandboxPolicy;

pub(super) const VERSION_CHECKS: [&str; 3] = ["daemon", "client-version", "engine-version"];
pub(super) const INFO_CHECKS: [&str; 5] =
    ["rootless", "runtimes", "cgroups", "disk", "engine-warnings"];

pub(super) fn versions(engine: &Engine, _: &SandboxPolicy) -> Vec<Finding> {
    let kind = engine.facts().kind;
    match ask_json(engine, "version") {
        Ok(version) => told_versions(kind, &version),
        Err(Silence { said, printed }) => {
            // The client tells its own version also where it does not reach the engine.
            let printed = serde_json::from_str(&printed).unwrap_or(Value::Null);
            let (what, fix) = Failure::of_engine(&said).what_and_fix("", "");
            vec![
                Finding::broken("daemon", what, &fix),
                client_version(kind, &printed),
                Finding::unknown("engine-version", "the engine does not answer"),
            ]
        }
    }
}

/// What an answer about versions tells.
pub(super) fn told_versions(kind: EngineKind, version: &Value) -> Vec<Finding> {
    vec![reached(kind, version), client_version(kind, version), engine_version(kind, version)]
}

fn reached(kind: EngineKind, version: &Value) -> Finding {
    let answers = match kind {
        EngineKind::Podman => "it runs containers itself",
        EngineKind::Docker | EngineKind::Nerdctl if version["Server"].is_object() => "it answers",
        EngineKind::Docker | EngineKind::Nerdctl => {
            return Finding::unknown("daemon", "the client tells nothing of an engine");
        }
    };
    Finding::ok("daemon", answers)
}

fn client_version(kind: EngineKind, version: &Value) -> Finding {
    let Some(text) = text(version, "/Client/Version") else {
        return Finding::unknown("client-version", "the client does not tell");
    };
    let parsed = Version::parse(text);
    let fault = match kind {
        EngineKind::Docker => parsed.and_then(versions::docker_client),
        EngineKind::Podman => parsed.and_then(versions::podman),
        EngineKind::Nerdctl => None,
    };
    match fault {
        Some(fault) => {
            Finding::weak("client-version", format!("{text}: {}", fault.what), fault.fix)
        }
        None => Finding::ok("client-version", text),
    }
}

fn engine_version(kind: EngineKind, version: &Value) -> Finding {
    if kind.memory_kills() == MemoryKills::Unrecorded {
        return Finding::note(
            "engine-version",
            "podman does not record that a program was killed for its memory; das asks this \
             machine's kernel, which knows where podman runs on this machine",
            "where it runs elsewhere, exit code 137 of verdict `error` may be such a kill",
        );
    }
    let Some(text) = text(version, "/Server/Version") else {
        return Finding::unknown("engine-version", "the engine does not tell");
    };
    match Version::parse(text).and_then(versions::docker_engine) {
        Some(fault) if kind == EngineKind::Docker => {
            Finding::weak("engine-version", format!("{text}: {}", fault.what), fault.fix)
        }
        Some(_) | None => Finding::ok("engine-version", text),
    }
}

pub(super) fn info(engine: &Engine, policy: &SandboxPolicy) -> Vec<Finding> {
    let kind = engine.facts().kind;
    match ask_json(engine, "info") {
        Ok(info) => {
            let Facts { root, host, .. } = Facts::read(kind, &info);
            let mut findings = told_info(kind, &info, policy);
            findings.push(disk::check(root.as_deref(), host.as_deref()));
            findings
        }
        Err(silence) => {
            let why = format!("the engine does not tell: {}", silence.said);
            INFO_CHECKS.map(|check| Finding::unknown(check, why.clone())).to_vec()
        }
    }
}

/// What an engine's answer about itself tells, without a look at this machine.
pub(super) fn told_info(kind: EngineKind, info: &Value, policy: &SandboxPolicy) -> Vec<Finding> {
    let facts = Facts::read(kind, info);
    let mut findings = vec![facts.rootless(), facts.runtimes(policy), facts.cgroups()];
    findings.extend(warnings(info));
    findings
}

/// What engines say of themselves, each in its own form.
struct Facts {
    rootless: Option<bool>,
    /// None where the engine has no list of them.
    runtimes: Option<Vec<String>>,
    default_runtime: Option<String>,
    cgroup_version: Option<String>,
    cgroup_driver: Option<String>,
    root: Option<String>,
    host: Option<String>,
}

impl Facts {
    fn read(kind: EngineKind, info: &Value) -> Self {
        match kind {
            EngineKind::Podman => Self::of_podman(info),
            EngineKind::Docker | EngineKind::Nerdctl => Self::of_docker(info),
        }
    }

    fn of_docker(info: &Value) -> Self {
        let owned = |pointer| text(info, pointer).map(str::to_owned);
        let options = info["SecurityOptions"].as_array();
        let says = |name: &str| {
            let is = |option: &Value| option.as_str().is_some_and(|it| it.contains(name));
            options.map(|options| options.iter().any(is))
        };
        let runtimes = info["Runtimes"].as_object();
        Self {
            rootless: says("name=rootless"),
            runtimes: runtimes.map(|runtimes| runtimes.keys().cloned().collect()),
            default_runtime: owned("/DefaultRuntime"),
            cgroup_version: owned("/CgroupVersion"),
            cgroup_driver: owned("/CgroupDriver"),
            root: owned("/DockerRootDir"),
            host: owned("/Name"),
        }
    }

    fn of_podman(info: &Value) -> Self {
        let owned = |pointer| text(info, pointer).map(str::to_owned);
        Self {
            rootless: info["host"]["security"]["rootless"].as_bool(),
            runtimes: None,
            default_runtime: owned("/host/ociRuntime/name"),
            cgroup_version: owned("/host/cgroupVersion"),
            cgroup_driver: owned("/host/cgroupManager"),
            root: owned("/store/graphRoot"),
            host: owned("/host/hostname"),
        }
    }

    fn rootless(&self) -> Finding {
        match self.rootless {
            Some(true) => Finding::ok("rootless", "the engine runs without root"),
            Some(false) => Finding::note(
                "rootless",
                "the engine runs as root: who breaks out of a container and of its user is root",
                "rootless Docker or podman takes that away, where its limits are enforced",
            ),
            None => Finding::unknown("rootless", "the engine does not tell"),
        }
    }

    fn runtimes(&self, policy: &SandboxPolicy) -> Finding {
        let default = self.default_runtime.as_deref().unwrap_or("not told");
        let Some(runtimes) = &self.runtimes else {
            return Finding::ok(
                "runtimes",
                format!("default {default}; podman has no list of them"),
            );
        };
        let wanted = policy.runtime.as_ref().map(crate::names::RuntimeName::as_str);
        let found = format!("{}; default {default}", runtimes.join(", "));
        match wanted.filter(|wanted| !runtimes.iter().any(|name| name == wanted)) {
            None => Finding::ok("runtimes", found),
            Some(wanted) => {
                let missing = Failure::NoRuntime(wanted.to_owned()).what_and_fix("", "");
                Finding::broken(
                    "runtimes",
                    format!("`{wanted}` is not there, only {found}"),
                    &missing.1,
                )
            }
        }
    }

    fn cgroups(&self) -> Finding {
        let driver = self.cgroup_driver.as_deref().unwrap_or("not told");
        let Some(version) = &self.cgroup_version else {
            return Finding::unknown("cgroups", "the engine does not tell their version");
        };
        let version = version.trim_start_matches('v');
        let found = format!("version {version}, driver {driver}");
        match (version, driver) {
            (_, "none") => Finding::weak(
                "cgroups",
                format!("{found}: no limit is enforced"),
                "rootless engines need cgroup v2 and systemd to enforce limits",
            ),
            ("1", _) => Finding::note(
                "cgroups",
                found,
                "newer systems use version 2; engines are about to give up on version 1",
            ),
            (_, _) => Finding::ok("cgroups", found),
        }
    }
}

/// What the engine itself warns of.
fn warnings(info: &Value) -> Vec<Finding> {
    let warnings = info["Warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let finding = |warning: &str| {
        let text = warning.strip_prefix("WARNING: ").unwrap_or(warning);
        Finding::weak(
            "engine-warnings",
            text,
            "`docker info` shows it too; see the engine's manual",
        )
    };
    let found: Vec<Finding> = warnings.map(finding).collect();
    if found.is_empty() { vec![Finding::ok("engine-warnings", "none")] } else { found }
}
