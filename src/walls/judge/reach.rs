//! What a program can reach: the network, other processes and containers, the host's environment.

use super::{Fault, Holding, Judgement, broken, held, listed, refused};
use crate::walls::evidence::{Evidence, NetworkPromise, Run};
use crate::walls::facts::Facts;

/// The loopback, and what some kernels put into every new network, without address or route.
const IDLE_INTERFACES: [&str; 11] = [
    "lo",
    "tunl0",
    "sit0",
    "ip6tnl0",
    "gre0",
    "gretap0",
    "erspan0",
    "ip_vti0",
    "ip6_vti0",
    "ip6gre0",
    "bonding_masters",
];

/// What every container has, whatever the policy. Podman sets `container`, and `TERM` to a constant;
/// the last ones are a shell's own.
const USUAL_VARIABLES: [&str; 9] =
    ["PATH", "HOME", "HOSTNAME", "container", "TERM", "PWD", "OLDPWD", "SHLVL", "_"];

pub(in crate::walls) fn network(evidence: &Evidence) -> Judgement {
    match evidence.promised.network {
        NetworkPromise::Open => {
            return Ok(Holding::Open("the policy lets programs reach the network".to_owned()));
        }
        NetworkPromise::Shut => {}
    }
    let facts = evidence.facts(Run::Facts)?;
    let tried = ["outside", "outside6", "metadata", "dns"].map(|name| refused(facts, name));
    let interfaces = interfaces(facts)?;
    if let Some(other) = interfaces.iter().find(|name| !IDLE_INTERFACES.contains(&name.as_str())) {
        return broken(format!("there is an interface {other} beside the loopback"));
    }
    let [outside, rest @ ..] = tried;
    let outside = outside?;
    for answer in rest {
        answer?;
    }
    let seen = format!("interfaces: {}", interfaces.join(", "));
    held(outside.map_or_else(|| seen.clone(), |outside| format!("{outside}; {seen}")))
}

/// The names in `/proc/net/dev`, below its two lines of headings.
fn interfaces(facts: &Facts) -> Result<Vec<String>, Fault> {
    let lines = listed(facts, "interfaces")?.iter();
    let names = lines.filter_map(|line| line.split_once(':'));
    Ok(names.map(|(name, _)| name.trim().to_owned()).collect())
}

pub(in crate::walls) fn environment(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    let names = listed(facts, "env")?;
    let image = match &evidence.outside.image_env {
        Some(Ok(names)) => names.as_slice(),
        Some(Err(reason)) => return Err(Fault::unknown(reason)),
        None => return Err(Fault::unknown("the variables of the image are not known")),
    };
    let expected = |name: &String| {
        USUAL_VARIABLES.contains(&name.as_str())
            || evidence.promised.env.contains(name)
            || image.contains(name)
    };
    let strange: Vec<&str> =
        names.iter().filter(|name| !expected(name)).map(String::as_str).collect();
    if strange.is_empty() {
        held(format!("{} variables, all of the image or the policy", names.len()))
    } else {
        // Its name only: the value may be a secret.
        broken(format!("variables that nobody granted: {}", strange.join(", ")))
    }
}

pub(in crate::walls) fn isolation(evidence: &Evidence) -> Judgement {
    let facts = evidence.facts(Run::Facts)?;
    alone(facts)?;
    let shared = |name: &&String| evidence.outside.namespaces.contains(name);
    let namespaces = facts.list("namespaces").unwrap_or_default();
    if let Some(shared) = namespaces.iter().find(shared) {
        return broken(format!("it shares the namespace {shared} with this machine"));
    }
    let peer = evidence.facts(Run::Peers)?;
    alone(peer)?;
    let tried = ["peer-shm", "peer-socket", "peer-port"].map(|name| refused(peer, name));
    let mut answers = Vec::new();
    for answer in tried {
        answers.extend(answer?);
    }
    match answers.first() {
        Some(answer) => {
            held(format!("no process but its own; of the container beside it, {answer}"))
        }
        None => Err(Fault::unknown("the probe did not look for the container beside it")),
    }
}

fn alone(facts: &Facts) -> Result<(), Fault> {
    match listed(facts, "processes")?.first() {
        Some(other) => broken(format!("it sees a process that is not its own: {other}")),
        None => Ok(()),
    }
}
