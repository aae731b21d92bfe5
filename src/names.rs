//! Names that may reach a command line, each with the grammar that makes it safe there.
//!
//! A value of one of these types has passed its check; nothing else may become an argument.
//! None can begin with `-`, none holds white space or control characters. This module knows
//! grammars, not what the names stand for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A text that is not a name of the kind it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {kind}: {rule}")]
pub struct NameError {
    text: String,
    kind: &'static str,
    rule: &'static str,
}

/// Defines a checked string: its check runs on every way in, serde's included.
macro_rules! checked_name {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $rule:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text of the name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                if $check(&text) {
                    Ok(Self(text))
                } else {
                    Err(NameError { text, kind: $kind, rule: $rule })
                }
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::try_from(text.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

checked_name!(
    /// An image reference: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`, at most 512 bytes.
    ///
    /// The grammar is that of the distribution project's `reference` package.
    ImageRef,
    "an image reference",
    "expected something like `python:3.12-slim` or `registry.example/team/python@sha256:...`",
    is_image_ref
);

checked_name!(
    /// The name under which an OCI runtime is registered with the engine, such as `runsc`.
    RuntimeName,
    "a runtime's name",
    "expected up to 64 letters, digits, `.`, `_` or `-`, such as `runsc`",
    is_plain_name
);

checked_name!(
    /// The name of an environment variable.
    EnvName,
    "a variable's name",
    "expected up to 256 letters, digits or `_`, not beginning with a digit",
    is_env_name
);

checked_name!(
    /// The name of a language, such as `python`.
    LanguageName,
    "a language's name",
    "expected up to 32 small letters, digits, `+`, `#`, `.` or `-`, beginning with a letter",
    is_language_name
);

checked_name!(
    /// The id of a container: 12 to 64 hexadecimal digits.
    ContainerId,
    "a container's id",
    "expected 12 to 64 small hexadecimal digits",
    is_container_id
);

/// A numeric user and group, neither of them root's, written `UID:GID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct User {
    uid: u32,
    gid: u32,
}

impl User {
    /// The traditional `nobody`, which owns nothing.
    pub const NOBODY: Self = Self { uid: 65534, gid: 65534 };

    /// The user id, never 0.
    pub const fn uid(self) -> u32 {
        self.uid
    }

    /// The group id, never 0.
    pub const fn gid(self) -> u32 {
        self.gid
    }
}

impl FromStr for User {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let error = |rule| NameError { text: text.to_owned(), kind: "a user", rule };
        let ids =
            text.split_once(':').and_then(|(uid, gid)| Some((parse_id(uid)?, parse_id(gid)?)));
        match ids {
            None => Err(error("expected numbers, `UID:GID`, such as `65534:65534`")),
            Some((0, _) | (_, 0)) => Err(error("uid 0 and gid 0 are root's and never granted")),
            Some((uid, gid)) => Ok(Self { uid, gid }),
        }
    }
}

impl TryFrom<String> for User {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<User> for String {
    fn from(user: User) -> Self {
        user.to_string()
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.uid, self.gid)
    }
}

/// A decimal id without sign or leading zeros; the largest `u32` means "no id" to the kernel.
fn parse_id(text: &str) -> Option<u32> {
    let id: u32 = text.parse().ok()?;
    (id != u32::MAX && id.to_string() == text).then_some(id)
}

fn is_container_id(text: &str) -> bool {
    (12..=64).contains(&text.len()) && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_plain_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

fn is_env_name(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_language_name(text: &str) -> bool {
    (1..=32).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+#.-".contains(c))
}

fn is_image_ref(text: &str) -> bool {
    if text.len() > 512 {
        return false;
    }
    let (named, digest) = split_optional(text, '@');
    let (name, tag) = split_tag(named);
    digest.is_none_or(is_digest) && tag.is_none_or(is_tag) && is_image_name(name)
}

fn split_optional(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// A colon before the last slash belongs to a registry's port.
fn split_tag(named: &str) -> (&str, Option<&str>) {
    match named.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (named, None),
    }
}

fn is_image_name(name: &str) -> bool {
    let path = match name.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => {
            if !is_registry(first) {
                return false;
            }
            rest
        }
        _ => name,
    };
    path.len() <= 255 && path.split('/').all(is_path_component)
}

fn is_registry(text: &str) -> bool {
    let (host, port) = split_optional(text, ':');
    let label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphanumeric())
            && label.ends_with(|c: char| c.is_ascii_alphanumeric())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    host.split('.').all(label)
        && port.is_none_or(|port| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()))
}

/// Small letters and digits, in groups that `.`, `_`, `__` or any number of `-` may join.
fn is_path_component(text: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let joined = |joint: &str| matches!(joint, "." | "_" | "__") || joint.chars().all(|c| c == '-');
    text.starts_with(alphanumeric)
        && text.ends_with(alphanumeric)
        && text.split(alphanumeric).filter(|joint| !joint.is_empty()).all(joined)
}

fn is_tag(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && !text.starts_with(['.', '-'])
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    algorithm.split(['-', '_', '+', '.']).all(part)
        && (32..=128).contains(&hex.len())
        && hex.chars().all(|c| c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What must never become an argument, whatever the kind of name.
    const HOSTILE: [&str; 14] = [
        "",
        " ",
        "-",
        "--privileged",
        "-v/:/h",
        "a b",
        "a\nb",
        "a\0b",
        "a\u{202e}b",
        "é",
        "a;b",
        "$(id)",
        "../etc",
        "a\tb",
    ];

    #[test]
    fn no_kind_of_name_accepts_what_could_be_a_flag_or_a_second_argument() {
        for text in HOSTILE {
            assert!(text.parse::<ImageRef>().is_err(), "image {text:?}");
            assert!(text.parse::<RuntimeName>().is_err(), "runtime {text:?}");
            assert!(text.parse::<EnvName>().is_err(), "variable {text:?}");
            assert!(text.parse::<LanguageName>().is_err(), "language {text:?}");
            assert!(text.parse::<User>().is_err(), "user {text:?}");
            assert!(text.parse::<ContainerId>().is_err(), "container {text:?}");
        }
    }

    #[test]
    fn image_references_of_every_form_are_accepted() {
        let digest = "0123456789abcdef".repeat(4);
        for text in [
            "python",
            "python:3.12-slim",
            "library/python:3.12",
            "localhost/a",
            "localhost:5000/a/b:v1",
            "registry.example:443/team/py_thon__x/a--b.c:Tag_1.0",
            &format!("python@sha256:{digest}"),
            &format!("python:3.12@sha256:{digest}"),
            &format!("sha256:{digest}"),
        ] {
            assert_eq!(text.parse::<ImageRef>().map(String::from).as_deref(), Ok(text));
        }
    }

    #[test]
    fn image_references_that_the_engine_would_refuse_are_refused_first() {
        for text in [
            "Python",
            "python:",
            "python:-x",
            "python@sha256:123",
            "python@",
            "a//b",
            "/a",
            "a/",
            "a_-b",
            "a___b",
            "a..b",
            "_a",
            "a:b:c",
            "host.example:x/a",
            "-host.example/a",
            "a@b@c",
        ] {
            assert!(text.parse::<ImageRef>().is_err(), "{text:?}");
        }
        assert!("a".repeat(256).parse::<ImageRef>().is_err());
    }

    #[test]
    fn root_is_refused_as_user_and_as_group_in_every_spelling() {
        for text in
            ["0:0", "0:1", "1:0", "root:root", "00:1", "+0:1", "4294967295:1", "1", "1:", "1:2:3"]
        {
            assert!(text.parse::<User>().is_err(), "{text:?}");
        }
        assert_eq!(
            "1000:100".parse::<User>().map(|user| user.to_string()).as_deref(),
            Ok("1000:100")
        );
    }

    #[test]
    fn a_refusal_names_the_text_the_kind_and_the_rule() {
        let error = "--privileged".parse::<ImageRef>().unwrap_err().to_string();
        assert!(
            error.starts_with("\"--privileged\" is not an image reference: expected"),
            "{error}"
        );
    }
}
