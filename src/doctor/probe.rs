//! A small run under the policy itself: whether das can run at all, and what holds inside.

use std::time::Duration;

use jiff::Timestamp;

use super::ask::{ask, chain};
use super::finding::Finding;
use super::inside::{Inside, SCRIPT};
use super::{images, limits};
use crate::engine::{Engine, EngineKind};
use crate::images::inventory::{Row, inventory};
use crate::names::{ImageRef, LanguageName};
use crate::outcome::{Outcome, Verdict};
use crate::policy::{LanguageRow, PullPolicy, SandboxPolicy};
use crate::runner::Stopper;
use crate::sandbox::{Request, Sandbox};

/// What the images, and then a run in one of them, tell.
pub(super) fn checks() -> &'static [&'static str] {
    let all: &'static [&'static str] = &super::CHECKS;
    let at = |name: &str| all.iter().position(|check| *check == name).expect("a check");
    &all[at("images")..=at("user-namespace")]
}

/// The language under which the probe runs; no policy can have it, for its name is das's own.
const LANGUAGE: &str = "das.doctor";

/// How long the probe may run, on a busy machine too.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn check(engine: &Engine, policy: &SandboxPolicy, stopper: &Stopper) -> Vec<Finding> {
    // An engine that does not answer this will answer nothing that takes longer.
    if let Err(silence) = ask(engine, &["version", "--format", "{{json .}}"]) {
        return all_unknown(checks(), &format!("the engine cannot be asked: {}", silence.said));
    }
    match inventory(engine, policy) {
        Ok(rows) => {
            let mut findings = images::check(&rows, policy, Timestamp::now());
            findings.extend(run(&rows, policy, engine.facts().kind, stopper));
            findings
        }
        Err(error) => all_unknown(checks(), &chain(&error)),
    }
}

fn all_unknown(checks: &[&'static str], why: &str) -> Vec<Finding> {
    checks.iter().map(|check| Finding::unknown(check, why)).collect()
}

/// Runs in the first image that has a shell.
fn run(rows: &[Row], policy: &SandboxPolicy, kind: EngineKind, stopper: &Stopper) -> Vec<Finding> {
    let mut findings = all_unknown(&checks()[1..], "no image with a shell is here to try");
    for row in rows.iter().filter(|row| row.present.is_some()) {
        let (first, inside) = match attempt(&row.image, policy, stopper) {
            Ok(outcome) if outcome.verdict == Verdict::CannotStart => continue,
            Ok(outcome) => judge(&outcome),
            Err(why) => (Finding::unknown("run", why), None),
        };
        findings = vec![first];
        findings.extend(match inside {
            Some(inside) => limits::check(&inside, policy, kind),
            None => all_unknown(&checks()[2..], "no container told"),
        });
        break;
    }
    findings
}

/// Runs the probe under every limit of the policy, in this image, by a shell.
fn attempt(image: &str, policy: &SandboxPolicy, stopper: &Stopper) -> Result<Outcome, String> {
    let language: LanguageName = LANGUAGE.parse().expect("a valid name");
    let image: ImageRef = image.parse().map_err(|error| format!("{image}: {error}"))?;
    let command = ["sh", "-c", r#"eval "$(cat)""#].map(str::to_owned).to_vec();
    let row = LanguageRow { image, command, extensions: Vec::new(), env: [].into() };
    let mut policy = SandboxPolicy {
        timeout_seconds: TIMEOUT.as_secs_f64(),
        max_output_bytes: 1 << 16,
        max_code_bytes: 1 << 16,
        pull: PullPolicy::Never,
        ..policy.clone()
    };
    policy.languages.insert(language, row);
    let sandbox = Sandbox::new(policy).map_err(|error| chain(&error))?;
    let request = Request { stopper: stopper.clone(), ..Request::new(LANGUAGE, SCRIPT.as_bytes()) };
    sandbox.run(request).map_err(|error| chain(&error))
}

/// The probe itself prints no errors, so what is on standard error is the engine's too.
fn warnings(outcome: &Outcome) -> Option<String> {
    let errors = String::from_utf8_lossy(outcome.stderr.bytes()).into_owned();
    let lines = errors.lines().map(str::trim).filter(|line| !line.is_empty());
    let errors = lines.map(|line| line.trim_start_matches("WARNING: ").to_owned());
    let all: Vec<String> = outcome.warnings.iter().cloned().chain(errors.take(5)).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn judge(outcome: &Outcome) -> (Finding, Option<Inside>) {
    const CHECK: &str = "run";
    let image = outcome.image.as_str();
    let seconds = outcome.duration.as_secs_f64();
    let hint = outcome.hint.as_deref().unwrap_or("it gives no reason");
    let weak = |what: String| {
        Finding::weak(CHECK, what, "`das run --json` with a small program shows more")
    };
    let finding = match outcome.verdict {
        Verdict::Success => match warnings(outcome) {
            None => Finding::ok(CHECK, format!("a container in {image} took {seconds:.2} s")),
            Some(said) => Finding::weak(CHECK, said, "mend what the engine warns of"),
        },
        Verdict::SandboxError => {
            let (what, fix) = hint.rsplit_once("; ").unwrap_or((hint, "see the engine's own log"));
            Finding::broken(CHECK, what, fix)
        }
        Verdict::Cancelled => Finding::unknown(CHECK, "the check was stopped"),
        Verdict::Timeout => weak(format!("a shell in {image} did not end in {seconds:.0} s")),
        Verdict::OutOfMemory => {
            weak(format!("the policy's memory is too little for a shell in {image}"))
        }
        Verdict::Error | Verdict::CannotStart => weak(format!("a shell in {image} failed: {hint}")),
    };
    let inside = match outcome.verdict {
        Verdict::Success => Inside::parse(&String::from_utf8_lossy(outcome.stdout.bytes())),
        Verdict::Error
        | Verdict::Timeout
        | Verdict::OutOfMemory
        | Verdict::CannotStart
        | Verdict::Cancelled
        | Verdict::SandboxError => None,
    };
    (finding, inside)
}
