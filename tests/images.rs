//! Images that das makes itself, from this machine's own interpreters.

use std::io::Read as _;
use std::time::Duration;

use docker_agent_sandbox::engine::Engine;
use docker_agent_sandbox::engine::command::{Input, Talk};
use docker_agent_sandbox::engine::find::{HostEnv, find};
use docker_agent_sandbox::images::commands::EngineError;
use docker_agent_sandbox::images::ensure::{Choice, Ensured, How, Progress, Wanted, ensure};
use docker_agent_sandbox::images::error::ImageError;
use docker_agent_sandbox::images::make::{self, MakeError};
use docker_agent_sandbox::images::offline::{Blueprint, Interpreter, OfflineError, Order};
use docker_agent_sandbox::images::package::Package;
use docker_agent_sandbox::images::pull_refusal::PullRefusal;
use docker_agent_sandbox::images::versions;
use docker_agent_sandbox::names::{ImageRef, LanguageName, User};
use docker_agent_sandbox::policy::{EngineChoice, PullPolicy};
use docker_agent_sandbox::runner::Stopper;
use docker_agent_sandbox::{Request, Sandbox, SandboxPolicy, Verdict};

/// How long the engine may take for one command.
const BOUND: Duration = Duration::from_mins(5);

/// Nothing listens there, on no machine.
const UNREACHABLE: &str = "localhost:1/das-test/python:1";

fn engine() -> Engine {
    find(&EngineChoice::Auto, &HostEnv::current()).expect("an engine")
}

fn order(interpreter: Interpreter, packages: &[Package]) -> Order<'_> {
    Order { interpreter, packages, talk: Talk::Captured }
}

fn packages(interpreter: Interpreter, names: &[&str]) -> Vec<Package> {
    names.iter().map(|name| Package::parse(interpreter, name).expect("a package")).collect()
}

fn image(text: &str) -> ImageRef {
    text.parse().expect("an image")
}

/// An image of one test, gone with its end.
struct Temporary(ImageRef);

impl Temporary {
    /// From this machine's own interpreter, under a name that no other test uses.
    fn offline(interpreter: Interpreter, packages: &[Package], name: &str) -> Self {
        let tag = image(&format!("das-test/{name}:1"));
        let made = make::offline(&engine(), order(interpreter, packages), Some(&tag));
        Self(made.expect("an image").image)
    }

    /// Something else upon another image.
    fn upon(base: &Self, name: &str) -> Self {
        let tag = image(&format!("das-test/{name}:1"));
        build(&format!("FROM {}\nUSER 0:0\nRUN echo > /built-upon\n", base.0), &tag);
        Self(tag)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Runs a program behind all the walls, in this image, and gives what it printed.
#[track_caller]
fn run(interpreter: Interpreter, image: &ImageRef, code: &str) -> String {
    let language: LanguageName = interpreter.name().parse().expect("a language");
    let mut policy = SandboxPolicy { timeout_seconds: 120.0, cpus: 2.0, ..Default::default() };
    policy.images.insert(language, image.clone());
    let sandbox = Sandbox::new(policy).expect("a policy");
    let outcome = sandbox.run(Request::new(interpreter.name(), code.as_bytes())).expect("a run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let stderr = text(outcome.stderr.bytes());
    assert_eq!(outcome.verdict, Verdict::Success, "{:?} {stderr}", outcome.hint);
    assert_eq!(stderr, "");
    text(outcome.stdout.bytes())
}

fn tar(interpreter: Interpreter) -> Vec<u8> {
    let blueprint = Blueprint::of(order(interpreter, &[]), std::env::consts::ARCH);
    let mut bytes = Vec::new();
    blueprint.expect("a blueprint").write_tar(&mut bytes).expect("a tar stream");
    bytes
}

/// Everything that could be the machine's own business, not its interpreter's.
#[track_caller]
fn assert_nothing_of_the_machines_owner(bytes: &[u8]) {
    let mut archive = tar::Archive::new(bytes);
    let own_etc = ["etc", "etc/passwd", "etc/group", "etc/nsswitch.conf"];
    for entry in archive.entries().expect("a tar stream") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").display().to_string();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let top = path.split('/').next().unwrap_or_default().to_owned();
        assert!(!["root", "home", "opt", "var", "srv", "mnt", "work"].contains(&&*top), "{path}");
        assert!(top != "etc" || own_etc.contains(&&*path), "{path}");
        assert!(!["site-packages", "dist-packages", "__pycache__"].contains(&&*name), "{path}");
        assert!(![Some("pyc"), Some("pth")].contains(&name.split('.').nth(1)), "{path}");
        let mode = entry.header().mode().expect("a mode");
        assert_eq!(mode & 0o6000, 0, "{path} would run as its owner");
        assert_eq!(mode & 0o444, 0o444, "{path} is not for everybody to read");
        if top == "etc" && path != "etc" {
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("a generated file");
            assert!(text.lines().count() <= 3, "{path} is not a generated file: {text}");
        }
    }
}

/// What `das explain` would grant must be enough for a shell on every Linux machine.
#[cfg(target_os = "linux")]
#[test]
fn a_shell_image_has_the_same_bytes_every_time_and_nothing_of_the_machines_owner() {
    let bytes = tar(Interpreter::Shell);
    assert!(bytes == tar(Interpreter::Shell), "two builds differ");
    assert_nothing_of_the_machines_owner(&bytes);
}

#[test]
fn packages_cannot_join_a_shell_of_this_machine() {
    let jq = packages(Interpreter::Shell, &["jq"]);
    let error = Blueprint::of(order(Interpreter::Shell, &jq), std::env::consts::ARCH);
    assert!(matches!(error, Err(OfflineError::NoPackages | OfflineError::NotLinux { .. })));
}

#[test]
fn an_engine_on_another_kind_of_processor_is_refused() {
    let error = Blueprint::of(order(Interpreter::Shell, &[]), "s390x").map(|_| ());
    assert!(error.is_err_and(|error| matches!(
        error,
        OfflineError::Architecture { .. } | OfflineError::NotLinux { .. }
    )));
}

#[test]
#[ignore = "needs Docker: a Python image from this machine runs behind every wall"]
fn an_offline_python_has_its_whole_standard_library() {
    let made = Temporary::offline(Interpreter::Python, &[], "python");
    let printed = run(
        Interpreter::Python,
        &made.0,
        r#"
import asyncio, bz2, ctypes, decimal, hashlib, json, lzma, multiprocessing, sqlite3, ssl, zlib
import concurrent.futures, csv, curses, datetime, email, http.server, importlib.metadata, logging
import pwd, queue, random, readline, socket, statistics, subprocess, sys, tempfile, threading
import tomllib, unittest, urllib.request, uuid, venv, xml.etree.ElementTree, zipfile, zoneinfo
assert sqlite3.connect(":memory:").execute("select 6 * 7").fetchone() == (42,)
assert lzma.decompress(lzma.compress(b"x")) == bz2.decompress(bz2.compress(b"x")) == b"x"
assert ctypes.CDLL(None).getpid() == 1
assert zoneinfo.ZoneInfo("Europe/Berlin").utcoffset(datetime.datetime(2024, 7, 1)).seconds == 7200
assert asyncio.run(asyncio.sleep(0, "slept")) == "slept"
assert multiprocessing.get_context("fork").Pool(2).map(abs, [-1, -2]) == [1, 2]
assert subprocess.run("echo $((6 * 7))", shell=True, capture_output=True).stdout == b"42\n"
assert pwd.getpwuid(65534).pw_name == "nobody"
assert ssl.create_default_context().cert_store_stats()["x509"] == 0
assert not list(importlib.metadata.distributions())
print(sys.stdout.encoding, sys.prefix == sys.base_prefix, [p for p in sys.path if "home" in p])
"#,
    );
    assert_eq!(printed, "utf-8 True []\n");
}

#[test]
#[ignore = "needs Docker: a Node.js image from this machine runs behind every wall"]
fn an_offline_node_has_its_built_in_modules() {
    let made = Temporary::offline(Interpreter::Node, &[], "node");
    let printed = run(
        Interpreter::Node,
        &made.0,
        r#"
const { Worker } = require('worker_threads');
const crypto = require('crypto'), zlib = require('zlib'), assert = require('assert');
assert.equal(crypto.createHash('sha256').update('').digest('hex').slice(0, 8), 'e3b0c442');
assert.equal(zlib.gunzipSync(zlib.gzipSync('x')).toString(), 'x');
assert.equal(require('child_process').execSync('echo $((6 * 7))').toString(), '42\n');
assert.equal(new Intl.NumberFormat('de').format(1234.5), '1.234,5');
const code = 'require("worker_threads").parentPort.postMessage(42)';
new Worker(code, { eval: true }).on('message', (answer) => console.log(answer));
"#,
    );
    assert_eq!(printed, "42\n");
}

#[test]
#[ignore = "needs Docker: a shell image from this machine runs behind every wall"]
fn an_offline_shell_has_the_usual_small_tools() {
    let made = Temporary::offline(Interpreter::Shell, &[], "shell");
    let printed = run(
        Interpreter::Shell,
        &made.0,
        r"
id -u
seq 10 | sort -rn | head -3 | tr '\n' ' '
printf 'a b\n' | sed s/a/x/ | cut -d' ' -f1
echo '3 4' | awk '{ print $1 + $2 }'
find /etc -name passwd | xargs grep -c nobody
printf '' | sha256sum | cut -c1-8
printf hello | base64 | base64 -d | wc -c | tr -d ' '
printf x > /tmp/x && cp /tmp/x /tmp/y && mv /tmp/y /tmp/z && ls /tmp
date -u -d @0 +%Y
",
    );
    assert_eq!(printed, "65534\n10 9 8 x\n7\n1\ne3b0c442\n5\nx\nz\n1970\n");
}

#[test]
#[ignore = "needs Docker: the images from this machine are the same every time"]
fn interpreters_have_the_same_bytes_every_time_and_nothing_of_the_machines_owner() {
    for interpreter in [Interpreter::Python, Interpreter::Node] {
        let bytes = tar(interpreter);
        assert!(bytes == tar(interpreter), "two builds differ: {interpreter:?}");
        assert_nothing_of_the_machines_owner(&bytes);
    }
}

#[test]
#[ignore = "needs Docker: an image that is made anew leaves no nameless one behind"]
fn making_an_image_again_replaces_it() {
    let tag = image("das-test/again:1");
    let make = || make::offline(&engine(), order(Interpreter::Shell, &[]), Some(&tag));
    let id = || engine().image_id(&tag).expect("an answer").expect("an image");
    make().expect("an image");
    let before = id();
    make().expect("an image");
    assert_ne!(before, id());
    assert_eq!(engine().image_id(&image(&before)).expect("an answer"), None);
    remove(&tag);
}

fn remove(image: &ImageRef) {
    let command = engine().command(["image", "rm", "--force", image.as_str()]);
    let finished = command.run(BOUND).expect("an answer");
    assert!(finished.success(), "{}", finished.err());
}

fn ensured(choice: Choice, pull: PullPolicy) -> Result<Ensured, ImageError> {
    let wanted = Wanted {
        language: &"python".parse().expect("a language"),
        image: &image(UNREACHABLE),
        choice,
        pull,
        progress: Progress::Hidden,
        stopper: &Stopper::default(),
    };
    ensure(&engine(), wanted)
}

#[test]
#[ignore = "needs Docker: without a registry, this machine's own interpreter stands in"]
fn a_default_image_that_no_registry_gives_has_a_stand_in_of_this_machine() {
    let wanted = image(UNREACHABLE);
    for pull in [PullPolicy::Always, PullPolicy::Missing] {
        let ensured = ensured(Choice::Default, pull).expect("an image");
        assert!(ensured.image.as_str().starts_with("das-offline/python:"), "{ensured:?}");
        assert!(matches!(ensured.how, How::StandIn(_) | How::MadeOffline(_)), "{ensured:?}");
        assert!(ensured.notice(&wanted).is_some_and(|notice| notice.contains(UNREACHABLE)));
    }
}

#[test]
#[ignore = "needs Docker: an image that somebody named is never replaced"]
fn a_named_image_that_no_registry_gives_is_an_error() {
    for pull in [PullPolicy::Missing, PullPolicy::Always] {
        let error = ensured(Choice::Named, pull).expect_err("no image");
        let refusal = PullRefusal::NoRegistry;
        assert!(
            matches!(&error, ImageError::Pull { refusal: is, .. } if *is == refusal),
            "{error}"
        );
    }
}

#[test]
#[ignore = "needs Docker: a policy that says never to pull is obeyed"]
fn nothing_is_pulled_where_the_policy_says_never() {
    let error = ensured(Choice::Default, PullPolicy::Never).expect_err("no image");
    assert_eq!(
        error.to_string(),
        "the image `localhost:1/das-test/python:1` is not here, and the policy says never to pull"
    );
}

#[test]
#[ignore = "needs Docker and a package index: packages join an offline image and are found there"]
fn packages_join_an_offline_python() {
    let six = packages(Interpreter::Python, &["six==1.16.0"]);
    let base = Temporary::offline(Interpreter::Python, &[], "to-bake");
    let order = order(Interpreter::Python, &six);
    let add = |base: &ImageRef, tag| make::with_packages(&engine(), base, order, User::NOBODY, tag);
    let tag = image("das-test/baked:1");
    let made = Temporary(add(&base.0, Some(&tag)).expect("an image").image);
    let program = versions::program(Interpreter::Python, &six);
    let printed = run(Interpreter::Python, &made.0, &program);
    assert_eq!(versions::parse(&printed), ["six==1.16.0"]);
    assert!(matches!(add(&made.0, None), Err(MakeError::AlreadyBaked { .. })));
}

#[test]
#[ignore = "needs Docker and a package index: a base with an installer is built upon by a Dockerfile"]
fn packages_join_a_base_that_has_an_installer() {
    let pip = packages(Interpreter::Python, &["pip"]);
    let order = order(Interpreter::Python, &pip);
    let bottom = Temporary::offline(Interpreter::Python, &pip, "pip");
    let base = Temporary::upon(&bottom, "with-pip");
    // The base has all of it, so that the build needs no index.
    let made = make::with_packages(&engine(), &base.0, order, User::NOBODY, None);
    let made = made.expect("an image");
    assert_eq!(made.from, base.0.as_str());
    let made = Temporary(made.image);
    assert_eq!(run(Interpreter::Python, &made.0, "import os; print(os.getuid())"), "65534\n");
}

fn build(dockerfile: &str, tag: &ImageRef) {
    let dockerfile = dockerfile.to_owned();
    let input = Input::Written(Box::new(move |out| out.write_all(dockerfile.as_bytes())));
    let command = engine().command(["build", "--tag", tag.as_str(), "-"]);
    let finished = command.run_with(input, Talk::Captured, BOUND).expect("an answer");
    assert!(finished.success(), "{}", finished.err());
}

#[test]
#[ignore = "needs Docker: a failed build says why"]
fn a_base_without_an_installer_says_so() {
    let bottom = Temporary::offline(Interpreter::Shell, &[], "tools");
    let base = Temporary::upon(&bottom, "bare");
    let jq = packages(Interpreter::Shell, &["jq"]);
    let order = order(Interpreter::Shell, &jq);
    let error = make::with_packages(&engine(), &base.0, order, User::NOBODY, None);
    let Err(MakeError::Engine(EngineError::Refused { said })) = error else {
        panic!("{error:?}");
    };
    assert!(said.contains("this image has neither apk nor apt-get"), "{said}");
    let id = engine().image_id(&base.0).expect("an answer").expect("an image");
    remove_steps_upon(&id);
}

/// A build that fails leaves the steps before it, and they keep their base. Builders that keep
/// their steps elsewhere have none to remove.
fn remove_steps_upon(id: &str) {
    let asked = |args: &[&str]| {
        let finished = engine().command(args.iter().copied()).run(BOUND).expect("an answer");
        finished.out()
    };
    let images = asked(&["image", "ls", "--all", "--quiet", "--no-trunc"]);
    for image in images.lines() {
        if asked(&["image", "inspect", "--format", "{{.Parent}}", image]) == id {
            remove_steps_upon(image);
            asked(&["image", "rm", image]);
        }
    }
}
