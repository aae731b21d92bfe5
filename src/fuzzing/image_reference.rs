//! Names: what is accepted of an arbitrary text, and what is said of the rest.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::capture::is_harmful;
use crate::names::{ContainerId, EnvName, ImageRef, LanguageName, NameError, RuntimeName, User};
use crate::tag::{ContainerName, Owner};

/// Takes the input for a name of every kind.
pub fn image_reference(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if name::<ImageRef>(text, 512).is_some() {
        other_references(text);
    }
    name::<RuntimeName>(text, 64);
    name::<EnvName>(text, 256);
    name::<LanguageName>(text, 32);
    name::<ContainerId>(text, 64);
    if let Some(user) = name::<User>(text, 21) {
        assert!(user.uid() != 0 && user.gid() != 0, "root");
    }
    shown_as_given::<ContainerName>(text);
    shown_as_given::<Owner>(text);
}

/// What is accepted of a kind is as long as may be and can be an argument, in JSON too.
fn name<T>(text: &str, longest: usize) -> Option<T>
where
    T: FromStr<Err = NameError> + Display + Debug + PartialEq + Serialize + DeserializeOwned,
{
    let json = serde_json::to_string(text).expect("a text is JSON");
    let read: Result<T, _> = serde_json::from_str(&json);
    let parsed = shown_as_given::<T>(text);
    assert!(parsed.is_none() || text.len() <= longest, "{} bytes", text.len());
    assert_eq!(parsed.as_ref(), read.as_ref().ok(), "JSON takes other names");
    match &parsed {
        Some(name) => assert_eq!(serde_json::to_string(name).expect("a name is JSON"), json),
        None => refused(&text.parse::<T>().expect_err("it was refused").to_string()),
    }
    parsed
}

/// What is accepted is shown as it was given, and cannot be taken for a flag or for two words.
fn shown_as_given<T: FromStr + Display>(text: &str) -> Option<T> {
    let name: T = text.parse().ok()?;
    assert_eq!(name.to_string(), text);
    assert!(!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()), "{text:?}");
    assert!(!text.starts_with('-'), "{text:?}");
    Some(name)
}

/// A refusal quotes what was given, on one line.
fn refused(message: &str) {
    assert!(!message.chars().any(|c| c == '\n' || is_harmful(c)), "{message:?}");
}

/// A tag and a digest can be taken away from an image reference, and a digest given to it.
fn other_references(text: &str) {
    let accepted = |text: &str| text.parse::<ImageRef>().is_ok();
    let (named, digest) = text.split_once('@').map_or((text, None), |(it, end)| (it, Some(end)));
    assert!(accepted(named), "{named:?} without its digest");
    let repository = match named.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        Some(_) | None => named,
    };
    assert!(accepted(repository), "{repository:?} without its tag");
    assert_eq!(accepted(&format!("{repository}:v1")), repository.len() + 3 <= 512);
    let with_digest = format!("{named}@sha256:{}", "0f".repeat(32));
    assert_eq!(accepted(&with_digest), with_digest.len() <= 512, "{with_digest}");
    assert!(!accepted(&format!("{with_digest}@sha256:{}", "0f".repeat(32))), "two digests");
    for harmful in ["//", "..", " ", "\0", "\n", ",", "=", "$"] {
        assert!(!repository.contains(harmful), "{repository:?}");
    }
    // The engine would look elsewhere for what it takes for a path of this machine.
    assert!(!text.starts_with(['.', '/', '~']), "{text:?}");
    if let Some(digest) = digest {
        assert!(digest.contains(':') && digest.len() > 32, "{digest:?}");
    }
}
