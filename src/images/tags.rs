//! The local names of images that das makes: no registry has them, and they say what they are.

use sha2::{Digest as _, Sha256};

use super::offline::Interpreter;
use super::package::Package;
use crate::names::ImageRef;

/// The most of the packages' names that a tag shows; a tag ends at 128 characters.
const SHOWN: usize = 80;

/// How the names of images from a machine's own interpreter begin.
pub const OFFLINE: &str = "das-offline/";

/// How the names of images with packages begin.
pub const BAKED: &str = "das-baked/";

/// The repository of images from a machine's own interpreter.
pub fn offline_repository(interpreter: Interpreter) -> String {
    format!("{OFFLINE}{}", interpreter.name())
}

/// The name of an image from a machine's own interpreter of this version.
pub(super) fn offline(interpreter: Interpreter, version: &str) -> ImageRef {
    checked(&format!("{}:{}", offline_repository(interpreter), plain(version)))
}

/// The name of an image with packages: the same base and packages give the same name, in
/// whichever order they are given, and others another.
pub(super) fn baked(interpreter: Interpreter, base: &str, packages: &[Package]) -> ImageRef {
    let description = description(base, packages);
    let digest = Sha256::digest(description.as_bytes());
    let digits = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    let names: Vec<String> = sorted(packages).iter().map(|name| plain(name)).collect();
    let shown: String = names.join("-").chars().take(SHOWN).collect();
    checked(&format!("{BAKED}{}:{shown}-{digits:08x}", interpreter.name()))
}

/// What an image with packages was made from, for its label.
pub(super) fn description(base: &str, packages: &[Package]) -> String {
    format!("{base} with {}", sorted(packages).join(" "))
}

fn sorted(packages: &[Package]) -> Vec<&str> {
    let mut names: Vec<&str> = packages.iter().map(Package::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The text as part of a tag: letters, digits, `.`, `_` and `-`, at most 100 of them.
fn plain(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric())
        .chars()
        .take(100)
        .map(safe)
        .collect()
}

fn checked(text: &str) -> ImageRef {
    text.parse().expect("a tag of safe characters is a valid reference")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(names: &[&str]) -> Vec<Package> {
        names.iter().map(|name| Package::parse(Interpreter::Python, name).unwrap()).collect()
    }

    #[test]
    fn an_offline_image_says_its_version() {
        let tag = offline(Interpreter::Python, "--3.14.0rc1+ \"x");
        assert_eq!(tag.as_str(), "das-offline/python:3.14.0rc1---x");
        assert!(offline(Interpreter::Shell, &"9".repeat(300)).as_str().len() < 128);
    }

    #[test]
    fn a_baked_image_says_its_packages_and_differs_with_its_base() {
        let tag = baked(Interpreter::Python, "python:3.12", &packages(&["pandas", "numpy==2.1"]));
        let name = tag.as_str().rsplit_once('-').unwrap().0;
        assert_eq!(name, "das-baked/python:numpy--2.1-pandas");
        let same = baked(
            Interpreter::Python,
            "python:3.12",
            &packages(&["numpy==2.1", "pandas", "pandas"]),
        );
        assert_eq!(tag, same);
        let other = baked(Interpreter::Python, "python:3.13", &packages(&["pandas", "numpy==2.1"]));
        assert_ne!(tag, other);
    }

    #[test]
    fn many_packages_still_give_a_tag() {
        let long = "a".repeat(200);
        let tag = baked(Interpreter::Python, "b", &packages(&[&long, "x[y]==1!2"]));
        assert_eq!(tag.as_str().len(), "das-baked/python:".len() + SHOWN + "-01234567".len());
    }

    #[test]
    fn a_scoped_package_does_not_begin_the_tag_with_a_mark() {
        let package = Package::parse(Interpreter::Node, "@scope/name@1.0.0").unwrap();
        let tag = baked(Interpreter::Node, "node:22", &[package]);
        assert!(tag.as_str().starts_with("das-baked/node:scope-name-1.0.0-"), "{tag}");
    }
}
