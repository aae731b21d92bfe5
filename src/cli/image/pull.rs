//! `das image pull`: fetches the images of the policy from their registries.

use std::io::{self, Write as _};

use clap::Args;
use serde::Serialize;

use super::resolve;
use crate::cli::policy_args::PolicyFileArgs;
use crate::cli::{CliError, Exit, status};
use crate::engine::Engine;
use crate::images::ensure::{Choice, Progress, Wanted, fetch};
use crate::images::inventory::policy_images;
use crate::language::canonical_name;
use crate::names::{ImageRef, LanguageName};
use crate::policy::{PolicyError, PullPolicy, SandboxPolicy};
use crate::runner::Stopper;

/// What a failed pull exits with.
const FAILURE: u8 = 125;

/// Pull the images of the policy, or those of some of its languages.
#[derive(Debug, Args)]
pub(super) struct PullArgs {
    /// The languages [default: all that the policy offers].
    #[arg(value_name = "LANGUAGE")]
    languages: Vec<String>,
    /// Print a JSON array with what came of each.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyFileArgs,
}

/// What came of one pull.
#[derive(Debug, Serialize)]
struct Attempt {
    language: LanguageName,
    image: ImageRef,
    pulled: bool,
    error: Option<String>,
    hint: Option<String>,
}

impl PullArgs {
    pub(super) fn execute(self) -> Result<Exit, CliError> {
        let (policy, engine) = resolve(&self.policy)?;
        let wanted = chosen(&policy, &self.languages)?;
        let progress = if self.json { Progress::Hidden } else { Progress::Shown(status::note) };
        let mut results = Vec::new();
        for (language, image) in wanted {
            results.push(pull(&engine, language, image, progress));
        }
        if self.json {
            let text = serde_json::to_string(&results).expect("results are plain data");
            writeln!(io::stdout().lock(), "{text}").map_err(CliError::Write)?;
        }
        let failed = results.iter().any(|result| !result.pulled);
        Ok(Exit::Code(if failed { FAILURE } else { 0 }))
    }
}

/// A pull that fails does not keep the others from being tried.
fn pull(engine: &Engine, language: LanguageName, image: ImageRef, progress: Progress) -> Attempt {
    let wanted = Wanted {
        language: &language,
        image: &image,
        choice: Choice::Named,
        pull: PullPolicy::Always,
        progress,
        stopper: &Stopper::default(),
    };
    let error = fetch(engine, wanted).err();
    let hint = error.as_ref().map(|error| error.fix().to_owned());
    let error = error.map(CliError::Image);
    if let (Some(error), Progress::Shown(_)) = (&error, progress) {
        error.report();
    }
    let error = error.map(|error| error.chain());
    Attempt { pulled: error.is_none(), language, image, error, hint }
}

/// The languages that were named, or all, with their images; one image is pulled once.
fn chosen(
    policy: &SandboxPolicy,
    named: &[String],
) -> Result<Vec<(LanguageName, ImageRef)>, CliError> {
    let offered: Vec<(&str, &str)> = policy_images(policy).collect();
    let unknown = |name: &str| {
        let offered = policy.offered_languages().join(", ");
        CliError::Offered(PolicyError::Language { name: name.to_owned(), offered })
    };
    let find = |name: &String| {
        let canonical = canonical_name(name);
        let found = offered.iter().find(|(language, _)| *language == canonical);
        found.copied().ok_or_else(|| unknown(name))
    };
    let mut chosen = if named.is_empty() {
        offered.clone()
    } else {
        named.iter().map(find).collect::<Result<_, _>>()?
    };
    let all = chosen.clone();
    let mut index = 0;
    chosen.retain(|(_, image)| {
        index += 1;
        !all[..index - 1].iter().any(|(_, earlier)| earlier == image)
    });
    Ok(chosen.into_iter().map(checked).collect())
}

fn checked((language, image): (&str, &str)) -> (LanguageName, ImageRef) {
    (
        language.parse().expect("it was the text of a language's name"),
        image.parse().expect("it was the text of an image reference"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(json: &str, named: &[&str]) -> Result<Vec<String>, String> {
        let policy = SandboxPolicy::from_json(json).unwrap();
        let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
        let chosen = chosen(&policy, &named).map_err(|error| error.to_string())?;
        Ok(chosen.into_iter().map(|(_, image)| image.to_string()).collect())
    }

    #[test]
    fn all_images_are_pulled_unless_languages_are_named() {
        let all = ["python:3.12-slim", "node:22-slim", "alpine:3.20"].map(str::to_owned);
        assert_eq!(images("{}", &[]), Ok(all.to_vec()));
        assert_eq!(images("{}", &["js"]), Ok(vec![all[1].clone()]));
        assert_eq!(
            images("{}", &["cobol"]),
            Err("the policy offers no language `cobol`, only python, node, shell".to_owned())
        );
    }

    #[test]
    fn an_image_of_two_languages_is_pulled_once() {
        let json = r#"{"images": {"python": "a", "node": "b", "shell": "a"}}"#;
        assert_eq!(images(json, &[]), Ok(vec!["a".to_owned(), "b".to_owned()]));
    }
}
