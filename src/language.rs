//! Languages: what runs a program, and how a program's language is recognised.
//!
//! A language is a row of data. Which image it runs in is the policy's to say.

use std::collections::BTreeMap;
use std::path::Path;

/// A language that das knows without being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    /// Its name in policies, on the command line and in results.
    pub name: &'static str,
    /// Other names that people and models give it.
    pub aliases: &'static [&'static str],
    /// Endings of its files' names, without the dot.
    pub extensions: &'static [&'static str],
    /// The image of the default policy.
    pub image: &'static str,
    /// The command that reads a program from standard input and runs it.
    pub command: &'static [&'static str],
    /// Variables that its interpreter needs to behave in a sandbox.
    pub env: &'static [(&'static str, &'static str)],
}

/// The languages that das knows, the default one first.
pub const LANGUAGES: [Language; 3] = [
    Language {
        name: "python",
        aliases: &["py", "python3"],
        extensions: &["py"],
        image: "python:3.12-slim",
        // Isolated: neither the environment nor the working directory changes what is imported.
        // Unbuffered, or all that was printed before a timeout would be lost; said by a flag,
        // because an isolated interpreter ignores its variables.
        command: &["python", "-I", "-u", "-"],
        // For the interpreters that the program starts. The root is read-only, and nothing is
        // run twice.
        env: &[("PYTHONDONTWRITEBYTECODE", "1"), ("PYTHONUNBUFFERED", "1")],
    },
    Language {
        name: "node",
        aliases: &["js", "javascript", "nodejs"],
        extensions: &["js", "mjs", "cjs"],
        image: "node:22-slim",
        command: &["node", "-"],
        env: &[],
    },
    Language {
        name: "shell",
        aliases: &["sh", "bash"],
        extensions: &["sh", "bash"],
        image: "alpine:3.20",
        // A shell that reads its script from standard input lets the script's own commands eat
        // the rest of it; read whole first, they find an empty standard input.
        command: &["sh", "-c", r#"eval "$(cat)""#],
        env: &[],
    },
];

/// What some editors of Windows begin a file with.
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The language of a program of which nothing is known.
pub const DEFAULT_LANGUAGE: &str = LANGUAGES[0].name;

impl Language {
    /// The language of this name, if das knows it. Aliases do not count.
    pub fn named(name: &str) -> Option<&'static Self> {
        LANGUAGES.iter().find(|language| language.name == name)
    }

    /// The image of each language in the default policy.
    pub fn default_images() -> BTreeMap<&'static str, &'static str> {
        LANGUAGES.iter().map(|language| (language.name, language.image)).collect()
    }
}

/// The name that an alias stands for; any other text is returned as it is, in small letters.
pub fn canonical_name(text: &str) -> String {
    let text = text.trim().to_ascii_lowercase();
    LANGUAGES
        .iter()
        .find(|language| language.aliases.contains(&text.as_str()))
        .map_or(text, |language| language.name.to_owned())
}

/// The language that a file's name or a program's first line (`#!`) tells, in this order.
pub fn detect(path: Option<&Path>, code: &[u8]) -> Option<&'static Language> {
    path.and_then(by_extension).or_else(|| by_shebang(code))
}

fn by_extension(path: &Path) -> Option<&'static Language> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    LANGUAGES.iter().find(|language| language.extensions.contains(&extension.as_str()))
}

fn by_shebang(code: &[u8]) -> Option<&'static Language> {
    let code = code.strip_prefix(BYTE_ORDER_MARK).unwrap_or(code);
    let line = code.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut program = words.next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    // `python3.12` and `node22` are interpreters with their version in the name.
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = match program {
        "dash" | "ash" | "ksh" | "zsh" => "shell".to_owned(),
        program => canonical_name(program),
    };
    Language::named(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(path: &str, code: &str) -> Option<&'static str> {
        let path = (!path.is_empty()).then(|| Path::new(path));
        detect(path, code.as_bytes()).map(|language| language.name)
    }

    #[test]
    fn a_files_name_tells_its_language() {
        assert_eq!(detected("job.py", ""), Some("python"));
        assert_eq!(detected("dir.sh/JOB.JS", ""), Some("node"));
        assert_eq!(detected("job.sh", "#!/usr/bin/python3"), Some("shell"));
        assert_eq!(detected("job.rb", ""), None);
        assert_eq!(detected("job", ""), None);
    }

    #[test]
    fn a_shebang_tells_the_language_where_the_name_does_not() {
        for (line, language) in [
            ("#!/usr/bin/env python3\n", Some("python")),
            ("#!/usr/bin/env -S LANG=C python3.12 -u\n", Some("python")),
            ("#!/usr/bin/node", Some("node")),
            ("#! /bin/sh -e\n", Some("shell")),
            ("#!/bin/dash\n", Some("shell")),
            ("#!/usr/bin/perl\n", None),
            ("#!\n", None),
            ("# python\n", None),
            ("#!/usr/bin/env\n", None),
        ] {
            assert_eq!(detected("", line), language, "{line:?}");
        }
    }

    #[test]
    fn every_alias_stands_for_one_language_and_hides_none() {
        for language in LANGUAGES {
            assert_eq!(canonical_name(language.name), language.name);
            for alias in language.aliases {
                assert_eq!(canonical_name(alias), language.name);
                assert_eq!(Language::named(alias), None, "{alias} is also a name");
            }
        }
        assert_eq!(canonical_name(" Python "), "python");
        assert_eq!(canonical_name("cobol"), "cobol");
    }
}
