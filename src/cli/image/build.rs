//! `das image build`: makes an image from this machine's own interpreter, or adds packages.

use std::io::{self, Write as _};
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::resolve;
use crate::cli::policy_args::PolicyFileArgs;
use crate::cli::{CliError, Exit, status};
use crate::engine::Engine;
use crate::engine::command::Talk;
use crate::images::ensure::{Choice, Progress, Wanted, ensure};
use crate::images::inventory::policy_images;
use crate::images::make::{self, Made};
use crate::images::offline::{Interpreter, Order};
use crate::images::package::Package;
use crate::images::table::size;
use crate::images::versions;
use crate::language::canonical_name;
use crate::names::{ImageRef, LanguageName};
use crate::outcome::Verdict;
use crate::policy::{PullPolicy, SandboxPolicy};
use crate::runner::Stopper;
use crate::sandbox::{Request, Sandbox};

/// Make an image from this machine's own interpreter, or one with packages.
///
/// Without `--with`, no registry is needed: the image has this machine's interpreter, its standard
/// library and the usual small tools. With it, the packages are added to the policy's image.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    das image build python\n  \
    das image build python --with numpy --with 'pandas==2.2.3'\n  \
    das image build node --with lodash --tag mine/node:1")]
pub(super) struct BuildArgs {
    /// python, node or shell.
    #[arg(value_name = "LANGUAGE")]
    language: String,
    /// Add this package of pip, npm, apk or apt, perhaps with its version; may be repeated.
    #[arg(long = "with", value_name = "PACKAGE")]
    packages: Vec<String>,
    /// Give the image this name [default: one that says what it is].
    #[arg(long, value_name = "REF")]
    tag: Option<ImageRef>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyFileArgs,
}

/// What was made.
#[derive(Debug, Serialize)]
struct Report {
    image: ImageRef,
    language: &'static str,
    from: String,
    /// Every package in it, with its version.
    packages: Vec<String>,
    /// What this machine lacks and the image therefore too.
    left_out: Vec<String>,
    bytes: u64,
    seconds: f64,
    /// What to put into a policy to use it.
    policy: serde_json::Value,
}

impl BuildArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let started = Instant::now();
        let interpreter = Interpreter::of(&canonical_name(&self.language))
            .ok_or_else(|| CliError::NotMade { language: self.language.clone() })?;
        let packages = self.packages.iter().map(|text| Package::parse(interpreter, text));
        let packages: Vec<Package> =
            packages.collect::<Result<_, _>>().map_err(CliError::Package)?;
        let (policy, engine) = resolve(&self.policy)?;
        let made = self.make(&engine, &policy, interpreter, &packages)?;
        let installed = try_it(policy, interpreter, &packages, &made.image)?;
        let report = report(interpreter, made, installed, started);
        self.print(&report).map_err(CliError::Write)?;
        Ok(Exit::Code(0))
    }

    fn make(
        &self,
        engine: &Engine,
        policy: &SandboxPolicy,
        interpreter: Interpreter,
        packages: &[Package],
    ) -> Result<Made, CliError> {
        let talk = if self.json { Talk::Captured } else { Talk::ShownOnStderr };
        let order = Order { interpreter, packages, talk };
        let tag = self.tag.as_ref();
        if packages.is_empty() {
            return make::offline(engine, order, tag).map_err(CliError::Make);
        }
        let base = self.base(engine, policy, interpreter)?;
        make::with_packages(engine, &base, order, policy.user, tag).map_err(CliError::Make)
    }

    /// The policy's image, or what stands in for it.
    fn base(
        &self,
        engine: &Engine,
        policy: &SandboxPolicy,
        interpreter: Interpreter,
    ) -> Result<ImageRef, CliError> {
        let name = interpreter.name();
        let image = policy_images(policy).find(|(language, _)| *language == name);
        let Some((_, image)) = image else {
            return Err(CliError::NotMade { language: name.to_owned() });
        };
        let image: ImageRef = image.parse().expect("it was the text of an image reference");
        let language: LanguageName = name.parse().expect("a language of das's own");
        let wanted = Wanted {
            language: &language,
            image: &image,
            choice: Choice::of(&language, &image),
            pull: match policy.pull {
                PullPolicy::Never => PullPolicy::Never,
                PullPolicy::Missing | PullPolicy::Always => PullPolicy::Missing,
            },
            progress: if self.json { Progress::Hidden } else { Progress::Shown(status::note) },
            stopper: &Stopper::default(),
        };
        let ensured = ensure(engine, wanted).map_err(CliError::Image)?;
        if let Some(notice) = ensured.notice(&image) {
            status::warn(&notice);
        }
        Ok(ensured.image)
    }

    fn print(&self, report: &Report) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        if self.json {
            let text = serde_json::to_string(report).expect("a report is plain data");
            return writeln!(stdout, "{text}");
        }
        for line in &report.left_out {
            status::note(&format!("left out {line}"));
        }
        let (size, seconds) = (size(report.bytes), report.seconds);
        status::note(&format!("made from {} in {seconds:.1} s, {size}", report.from));
        writeln!(stdout, "image: {}", report.image)?;
        for package in &report.packages {
            writeln!(stdout, "package: {package}")?;
        }
        writeln!(stdout, "policy: {}", report.policy)
    }
}

/// Runs a program in the image, behind all the walls, that lists what is installed. An image in
/// which it does not run is of no use, and whoever made it should hear so now.
fn try_it(
    policy: SandboxPolicy,
    interpreter: Interpreter,
    packages: &[Package],
    image: &ImageRef,
) -> Result<Vec<String>, CliError> {
    let name: LanguageName = interpreter.name().parse().expect("a language of das's own");
    let mut policy = SandboxPolicy {
        network: false,
        work_dir: None,
        pull: PullPolicy::Never,
        timeout_seconds: 60.0,
        languages: std::collections::BTreeMap::new(),
        ..policy
    };
    policy.images.insert(name, image.clone());
    let sandbox = Sandbox::new(policy).map_err(CliError::Refused)?;
    let program = versions::program(interpreter, packages);
    let request = Request::new(interpreter.name(), program.as_bytes());
    let outcome = sandbox.run(request).map_err(CliError::Run)?;
    if outcome.verdict == Verdict::Success {
        return Ok(versions::parse(&String::from_utf8_lossy(outcome.stdout.bytes())));
    }
    let end = String::from_utf8_lossy(outcome.stderr.bytes()).trim().to_owned();
    let why = outcome.hint.unwrap_or_else(|| format!("{}: {end}", outcome.verdict.name()));
    Err(CliError::Useless { image: image.clone(), why })
}

fn report(interpreter: Interpreter, made: Made, packages: Vec<String>, started: Instant) -> Report {
    let Made { image, from, bytes, left_out } = made;
    Report {
        language: interpreter.name(),
        policy: json!({ "images": { interpreter.name(): &image } }),
        image,
        from,
        packages,
        left_out,
        bytes,
        // Milliseconds are enough.
        seconds: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
    }
}
