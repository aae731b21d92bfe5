//! Policies of every kind, for properties.

use std::collections::BTreeMap;

use docker_agent_sandbox::SandboxPolicy;
use docker_agent_sandbox::names::{EnvName, ImageRef, LanguageName};
use docker_agent_sandbox::policy::{EngineChoice, LanguageRow, PullPolicy, SeccompChoice, WorkDir};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

/// Any policy that is accepted; directories and engines are taken from these.
pub(crate) fn any_policy(
    work_dirs: Vec<String>,
    engines: Vec<String>,
) -> impl Strategy<Value = SandboxPolicy> {
    (numbers(), names(), texts(), places(work_dirs, engines)).prop_map(
        |(numbers, names, (env, languages), (work_dir, engine))| {
            let (limits, sizes, mcp) = numbers;
            let (timeout_seconds, memory_mb, cpus, pids_limit, tmpfs_mb, nofile_limit) = limits;
            let (max_output_bytes, max_code_bytes) = sizes;
            let (warm, warm_idle_seconds, max_concurrent) = mcp;
            let (user, images, (runtime, seccomp), network, pull) = names;
            SandboxPolicy {
                timeout_seconds,
                memory_mb,
                cpus,
                pids_limit,
                tmpfs_mb,
                nofile_limit,
                max_output_bytes,
                max_code_bytes,
                network,
                user: user.parse().expect("a user"),
                images,
                languages,
                env,
                runtime: runtime.map(|name| name.parse().expect("a runtime")),
                seccomp,
                engine,
                work_dir,
                pull,
                warm,
                warm_idle_seconds,
                max_concurrent,
            }
        },
    )
}

type Limits = (f64, u64, f64, u64, u64, u64);

fn numbers() -> impl Strategy<Value = (Limits, (u64, u64), (u64, u64, u64))> {
    let limits = (
        0.1..=3600.0,
        16..=1_048_576u64,
        0.05..=512.0,
        8..=32_768u64,
        1..=65_536u64,
        32..=1_048_576u64,
    );
    (limits, (1024..=16_777_216u64, 1..=67_108_864u64), (0..=32u64, 1..=3600u64, 1..=256u64))
}

type Names =
    (String, BTreeMap<LanguageName, ImageRef>, (Option<String>, SeccompChoice), bool, PullPolicy);

fn names() -> impl Strategy<Value = Names> {
    let builtin = prop::sample::select(vec!["python", "node", "shell"])
        .prop_map(|name| name.parse().expect("a language"));
    let pull =
        prop::sample::select(vec![PullPolicy::Never, PullPolicy::Missing, PullPolicy::Always]);
    let seccomp = prop::sample::select(vec![SeccompChoice::Default, SeccompChoice::Strict]);
    (
        "[1-9][0-9]{0,8}:[1-9][0-9]{0,8}",
        btree_map(builtin, image(), 1..=3),
        (option::of("[a-zA-Z0-9][a-zA-Z0-9._-]{0,30}"), seccomp),
        any::<bool>(),
        pull,
    )
}

fn image() -> impl Strategy<Value = ImageRef> {
    let name = "([a-z0-9]{1,8}(\\.example)?(:[0-9]{1,4})?/)?[a-z0-9]{1,9}([._-][a-z0-9]{1,5}){0,2}";
    let rest = "(:[a-zA-Z0-9_][a-zA-Z0-9._-]{0,20})?(@sha256:[0-9a-f]{64})?";
    (name, rest).prop_filter_map("an image reference", |(name, rest)| (name + &rest).parse().ok())
}

type Texts = (BTreeMap<EnvName, String>, BTreeMap<LanguageName, LanguageRow>);

/// The owner's texts may hold anything but NUL.
fn texts() -> impl Strategy<Value = Texts> {
    let command = ("[a-z/][^\0]{0,12}", vec("[^\0]{0,20}", 0..4))
        .prop_map(|(program, rest)| [vec![program], rest].concat());
    let row = (image(), command, vec("[a-z0-9]{1,4}", 0..3), env()).prop_map(
        |(image, command, extensions, env)| LanguageRow { image, command, extensions, env },
    );
    let name = prop::sample::select(vec!["ruby", "perl", "c++", "python", "node"])
        .prop_map(|name| name.parse().expect("a language"));
    (env(), btree_map(name, row, 0..3))
}

fn env() -> impl Strategy<Value = BTreeMap<EnvName, String>> {
    let name = "([A-Z_][A-Za-z0-9_]{0,12}|HTTP_PROXY|https_proxy|HOME|PATH)"
        .prop_map(|name| name.parse().expect("a variable"));
    btree_map(name, "[^\0]{0,40}", 0..4)
}

fn places(
    dirs: Vec<String>,
    engines: Vec<String>,
) -> impl Strategy<Value = (Option<WorkDir>, EngineChoice)> {
    let work_dir = (prop::sample::select(dirs), any::<bool>())
        .prop_map(|(path, writable)| WorkDir { path: path.into(), writable });
    let engine =
        prop::sample::select(engines).prop_map(|engine| engine.parse().expect("an engine"));
    (option::of(work_dir), engine)
}
