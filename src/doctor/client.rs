//! The engine's program: where it is, whom it talks to, and what it would add to a container.

use super::ask::ask;
use super::finding::Finding;
use crate::engine::find::{FindError, HostEnv};
use crate::engine::{ClientProxies, Engine, EngineKind};
use crate::policy::SandboxPolicy;

/// There is no program, so that there is nothing else to ask.
pub(super) fn missing(error: &FindError) -> Vec<Finding> {
    let fix = "install Docker or Podman, or name the program with --engine PATH";
    vec![Finding::broken("client", error.to_string(), fix)]
}

pub(super) fn check(engine: &Engine, _: &SandboxPolicy) -> Vec<Finding> {
    vec![program(engine), endpoint(engine), proxies(engine)]
}

fn program(engine: &Engine) -> Finding {
    let facts = engine.facts();
    let kind = facts.kind.name();
    let found = match HostEnv::current().in_path(&facts.program) {
        Some(path) => format!("{kind}, {} in PATH", path.display()),
        None => format!("{kind}, {}", facts.program),
    };
    Finding::ok("client", found)
}

fn endpoint(engine: &Engine) -> Finding {
    match engine.facts().kind {
        EngineKind::Docker => of_docker(engine),
        EngineKind::Podman => match ask(engine, &["info", "--format", "{{.Host.ServiceIsRemote}}"])
        {
            Ok(remote) if remote == "true" => Finding::ok("endpoint", "a podman service elsewhere"),
            Ok(_) => Finding::ok("endpoint", "podman itself, without a daemon"),
            Err(silence) => Finding::unknown("endpoint", silence.said),
        },
        EngineKind::Nerdctl => Finding::unknown("endpoint", "nerdctl does not tell"),
    }
}

fn of_docker(engine: &Engine) -> Finding {
    const FORMAT: &str = "{{.Name}} {{.Endpoints.docker.Host}}";
    let answer = match ask(engine, &["context", "inspect", "--format", FORMAT]) {
        Ok(answer) => answer,
        Err(silence) => {
            let fix = "check DOCKER_HOST, DOCKER_CONTEXT and `docker context ls`";
            return Finding::broken("endpoint", silence.said, fix);
        }
    };
    let (context, host) = answer.split_once(' ').unwrap_or(("default", &answer));
    let set_by_das = engine.facts().env.set.iter().any(|(name, _)| name == "DOCKER_HOST");
    let how = match (context, set_by_das) {
        (_, true) => "found by das: nothing names another".to_owned(),
        ("default", false) if HostEnv::current().has("DOCKER_HOST") => "DOCKER_HOST".to_owned(),
        (context, false) => format!("context `{context}`"),
    };
    let found = format!("{host} ({how})");
    if host.starts_with("tcp://") && !HostEnv::current().has("DOCKER_TLS_VERIFY") {
        let fix = "use ssh:// or TLS: who reaches this port is root on the engine's machine";
        return Finding::weak("endpoint", found, fix);
    }
    Finding::ok("endpoint", found)
}

fn proxies(engine: &Engine) -> Finding {
    let found = match (engine.facts().client_proxies, engine.facts().kind) {
        (ClientProxies::None, _) => "the client's configuration names none",
        (ClientProxies::Configured, EngineKind::Podman) => {
            "podman would hand on its own; das keeps them out of its containers"
        }
        (ClientProxies::Configured, EngineKind::Docker | EngineKind::Nerdctl) => {
            "the client's configuration names some, or cannot be read; das keeps them out of its \
             containers"
        }
    };
    Finding::ok("proxies", found)
}
