//! Names of packages, each with the grammar of its registry.
//!
//! A [`Package`] has passed its check: no flag, no path, no address, no white space, nothing that
//! a shell or a Dockerfile would give a meaning to inside single quotes.

use std::fmt;

use super::offline::Interpreter;

/// A package that somebody asked for, perhaps with its version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package(String);

/// A text that is not a package of its registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a package's name: expected something like {examples}")]
pub struct PackageError {
    text: String,
    examples: &'static str,
}

impl Package {
    /// Checks a package of the registry that serves this interpreter: the Python Package Index,
    /// npm, or the distribution's own for the shell.
    pub fn parse(interpreter: Interpreter, text: &str) -> Result<Self, PackageError> {
        let (valid, examples) = match interpreter {
            Interpreter::Python => (is_pip(text), "`numpy`, `numpy==2.1.3` or `requests[socks]`"),
            Interpreter::Node => (is_npm(text), "`lodash`, `lodash@4.17.21` or `@scope/name`"),
            Interpreter::Shell => (is_distro(text), "`jq` or `jq=1.7.1-r0`"),
        };
        if valid && text.len() <= 214 {
            Ok(Self(text.to_owned()))
        } else {
            Err(PackageError { text: text.to_owned(), examples })
        }
    }

    /// The package as its installer takes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `NAME[EXTRA,...]==VERSION`, names as in PEP 508.
fn is_pip(text: &str) -> bool {
    let (named, version) = split(text, "==");
    let (name, extras) = match named.strip_suffix(']').map(|named| named.split_once('[')) {
        Some(Some((name, extras))) => (name, Some(extras)),
        Some(None) => return false,
        None => (named, None),
    };
    is_pip_name(name)
        && extras.is_none_or(|extras| extras.split(',').all(is_pip_name))
        && version.is_none_or(|version| is_version(version, ".!+_-"))
}

fn is_pip_name(name: &str) -> bool {
    name.starts_with(alphanumeric) && name.ends_with(alphanumeric) && is_version(name, "._-")
}

/// `[@SCOPE/]NAME[@VERSION]`, in small letters as npm wants it since 2017.
fn is_npm(text: &str) -> bool {
    let (scope, rest) = match text.strip_prefix('@').map(|text| text.split_once('/')) {
        Some(Some((scope, rest))) => (Some(scope), rest),
        Some(None) => return false,
        None => (None, text),
    };
    let (name, version) = split(rest, "@");
    let part = |part: &str| is_version(part, "._-") && part.chars().all(|c| !c.is_uppercase());
    scope.is_none_or(part) && part(name) && version.is_none_or(|text| is_version(text, ".+-"))
}

/// `NAME[=VERSION]`, for apk and apt alike.
fn is_distro(text: &str) -> bool {
    let (name, version) = split(text, "=");
    is_version(name, "+._-") && version.is_none_or(|version| is_version(version, ".+:~_-"))
}

fn split<'a>(text: &'a str, mark: &str) -> (&'a str, Option<&'a str>) {
    text.split_once(mark).map_or((text, None), |(name, version)| (name, Some(version)))
}

/// A letter or a digit, then more of them and these marks.
fn is_version(text: &str, marks: &str) -> bool {
    text.starts_with(alphanumeric) && text.chars().all(|c| alphanumeric(c) || marks.contains(c))
}

fn alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Interpreter; 3] = [Interpreter::Python, Interpreter::Node, Interpreter::Shell];

    fn accepted(interpreter: Interpreter, text: &str) -> bool {
        Package::parse(interpreter, text).is_ok()
    }

    #[test]
    fn packages_of_every_registry_are_accepted() {
        for text in ["numpy", "numpy==2.1.3", "Flask", "zope.interface", "requests[socks,use_x]"] {
            assert!(accepted(Interpreter::Python, text), "{text}");
        }
        for text in ["a[b]==1!2.0.post1+local-1", "x==1.0rc1"] {
            assert!(accepted(Interpreter::Python, text), "{text}");
        }
        for text in ["lodash", "lodash@4.17.21", "@scope/name", "@s/n@1.0.0-rc.1+b", "lodash.merge"]
        {
            assert!(accepted(Interpreter::Node, text), "{text}");
        }
        for text in ["jq", "jq=1.7.1-r0", "g++", "libstdc++6=12.2.0-14+deb12u1", "x=1:2.0~rc1"] {
            assert!(accepted(Interpreter::Shell, text), "{text}");
        }
    }

    #[test]
    fn no_registry_accepts_a_flag_a_path_an_address_or_a_second_word() {
        for text in [
            "",
            "-r",
            "--index-url=http://x",
            "-e",
            ".",
            "..",
            "./x",
            "/etc",
            "a b",
            "a\nRUN id",
            "a'b",
            "a\"b",
            "a;id",
            "a&&id",
            "$(id)",
            "`id`",
            "a|b",
            "git+https://x/y",
            "https://x/y.whl",
            "name @ https://x",
            "file:x",
            "a>1",
            "a\\b",
            "a\0",
            "é",
            "x*",
        ] {
            for interpreter in ALL {
                assert!(!accepted(interpreter, text), "{interpreter:?} {text:?}");
            }
        }
    }

    #[test]
    fn half_a_package_is_refused() {
        for text in ["a==", "a[", "a]", "a[]", "a[b", "a=1", "a>=1", "a[-b]", "a===1", "a-", "_a"] {
            assert!(!accepted(Interpreter::Python, text), "{text}");
        }
        for text in ["@", "@a", "@/a", "@a/", "a@", "a@^1", "a@npm:b", "A", "a/b", "_a", ".a"] {
            assert!(!accepted(Interpreter::Node, text), "{text}");
        }
        for text in ["a=", "a==1", "a@edge", "a,b", "=1"] {
            assert!(!accepted(Interpreter::Shell, text), "{text}");
        }
        assert!(!accepted(Interpreter::Python, &"a".repeat(215)));
    }

    #[test]
    fn a_refusal_shows_what_is_expected() {
        let error = Package::parse(Interpreter::Node, "--force").unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"--force\" is not a package's name: expected something like `lodash`, \
             `lodash@4.17.21` or `@scope/name`"
        );
    }
}
