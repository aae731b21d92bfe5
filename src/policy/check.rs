//! Checks a policy's values against the table of keys.

use super::fields::{FIELDS, Field};
use super::{LanguageRow, SandboxPolicy};
use crate::language::{Language, canonical_name};
use crate::names::LanguageName;

/// Why a policy is refused. Nothing has run when this is returned.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The text is not JSON, or not an object.
    #[error("the policy is not a JSON object")]
    NotAnObject(#[source] Option<serde_json::Error>),
    /// A key that no policy has.
    #[error("unknown key `{path}`{}", nearest.map_or_else(String::new, |key| format!(", did you mean `{key}`?")))]
    UnknownKey {
        /// Where it stands.
        path: String,
        /// The known key that is spelled most like it.
        nearest: Option<&'static str>,
    },
    /// A value of the wrong type or out of its range.
    #[error("`{key}` must be {expected}, not {value}")]
    Value {
        /// The key.
        key: String,
        /// What it takes.
        expected: String,
        /// What was given, as JSON.
        value: String,
    },
    /// A value with a grammar of its own, such as an image reference.
    #[error("`{path}`: {message}")]
    Grammar {
        /// Where it stands.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// An engine that das does not drive.
    #[error(
        "{value:?} is not an engine: expected auto, docker, podman, nerdctl or an absolute path"
    )]
    Engine {
        /// What was given.
        value: String,
    },
    /// No filter of system calls.
    #[error("{value:?} is no seccomp profile: expected default, strict or an absolute path")]
    Seccomp {
        /// What was given.
        value: String,
    },
    /// A language that the policy does not offer.
    #[error("the policy offers no language `{name}`, only {offered}")]
    Language {
        /// What was asked for.
        name: String,
        /// What there is.
        offered: String,
    },
}

impl SandboxPolicy {
    /// Checks every value that its type alone does not.
    pub fn check(&self) -> Result<(), PolicyError> {
        for (key, number) in self.numbers() {
            let field = Field::named(key).expect("every number has its row in the table");
            if !field.kind.holds(number) {
                return Err(PolicyError::Value {
                    key: key.to_owned(),
                    expected: field.kind.expectation(),
                    value: number.to_string(),
                });
            }
        }
        for (name, value) in &self.env {
            check_argument(&format!("env.{name}"), value)?;
        }
        self.images.keys().try_for_each(check_builtin)?;
        self.languages.iter().try_for_each(|(name, row)| check_language(name, row))
    }

    /// The numbers of the policy, each with its key.
    #[expect(clippy::cast_precision_loss, reason = "values beyond 2^53 are out of every range")]
    fn numbers(&self) -> [(&'static str, f64); 11] {
        [
            ("timeout_seconds", self.timeout_seconds),
            ("memory_mb", self.memory_mb as f64),
            ("cpus", self.cpus),
            ("pids_limit", self.pids_limit as f64),
            ("tmpfs_mb", self.tmpfs_mb as f64),
            ("nofile_limit", self.nofile_limit as f64),
            ("max_output_bytes", self.max_output_bytes as f64),
            ("max_code_bytes", self.max_code_bytes as f64),
            ("warm", self.warm as f64),
            ("warm_idle_seconds", self.warm_idle_seconds as f64),
            ("max_concurrent", self.max_concurrent as f64),
        ]
    }

    /// The offered language that a name or an alias stands for. Names go before aliases, for a
    /// policy may add a language whose name is elsewhere an alias.
    pub fn offered_language(&self, text: &str) -> Option<&str> {
        let names = [text.trim().to_ascii_lowercase(), canonical_name(text)];
        let offered = self.offered_languages();
        names.iter().find_map(|name| offered.iter().copied().find(|offered| offered == name))
    }

    /// The languages that programs may be written in, the built-in ones first.
    pub fn offered_languages(&self) -> Vec<&str> {
        let builtin = crate::language::LANGUAGES
            .iter()
            .map(|language| language.name)
            .filter(|name| self.images.keys().any(|key| key.as_str() == *name));
        let mut names: Vec<&str> = builtin.collect();
        for name in self.languages.keys().map(LanguageName::as_str) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// The image of a language that das does not know, or knows by another name, would never be used.
fn check_builtin(name: &LanguageName) -> Result<(), PolicyError> {
    let (name, path) = (name.as_str(), format!("images.{name}"));
    let meant = canonical_name(name);
    if Language::named(name).is_some() {
        Ok(())
    } else if meant != name {
        Err(grammar(path, &format!("another name of `{meant}`")))
    } else {
        let advice = "not a built-in language; one of your own goes under `languages`, with its \
                      command";
        Err(grammar(path, advice))
    }
}

fn check_language(name: &LanguageName, row: &LanguageRow) -> Result<(), PolicyError> {
    let path = format!("languages.{name}.command");
    match row.command.first() {
        None => return Err(grammar(path, "expected at least one word")),
        Some(first) if first.is_empty() || first.starts_with('-') => {
            return Err(grammar(path, "the first word must be a program"));
        }
        Some(_) => {}
    }
    for (index, word) in row.command.iter().enumerate() {
        check_argument(&format!("{path}[{index}]"), word)?;
    }
    for (variable, value) in &row.env {
        check_argument(&format!("languages.{name}.env.{variable}"), value)?;
    }
    Ok(())
}

/// The kernel takes no argument with a NUL in it, and none of 128 KiB or more.
fn check_argument(path: &str, text: &str) -> Result<(), PolicyError> {
    const LONGEST: usize = 64 * 1024;
    if text.contains('\0') {
        return Err(grammar(path.to_owned(), "a NUL character cannot be passed on"));
    }
    if text.len() > LONGEST {
        return Err(grammar(path.to_owned(), "longer than 64 KiB"));
    }
    Ok(())
}

pub(super) fn grammar(path: String, message: &str) -> PolicyError {
    PolicyError::Grammar { path, message: message.to_owned() }
}

/// The known key that is spelled most like an unknown one, if any comes near.
pub(super) fn nearest(
    key: &str,
    known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    const NEAR: f64 = 0.75;
    known
        .map(|candidate| (strsim::jaro_winkler(key, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// The keys of a policy.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|field| field.key)
}
