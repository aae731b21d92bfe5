//! What a model is told of the tool before it uses it, made from the policy so that it never lies.

use crate::language::Language;
use crate::policy::SandboxPolicy;

/// The most that some clients show of a description, in bytes.
#[cfg(test)]
const LONGEST: usize = 2048;

/// Of lists that the policy's owner can make as long as they like, so many bytes are shown.
const LONGEST_LIST: usize = 400;

/// What a model is told of the server as a whole; it does not repeat the description.
pub(crate) const INSTRUCTIONS: &str = "das runs code in a throwaway container within limits that \
only its owner can widen. Use run_code to compute, to check code and to process data that you pass \
in the code. The verdict sandbox_error means that the sandbox failed, not the code: tell the user \
the hint instead of changing the code.";

/// What the tool does, how, and within which limits.
pub(super) fn description(policy: &SandboxPolicy) -> String {
    [
        "Run a short program in a fresh, isolated container and return its stdout, stderr and exit code. \
         Use it to compute, to parse or transform data, and to test code. Each call starts from scratch: \
         no files, variables or packages survive between calls, so send a complete program. Print what \
         you need: values of expressions are not echoed. stdin is empty."
            .to_owned(),
        network(policy).to_owned(),
        files(policy),
        limits(policy),
        languages(policy),
        env(policy),
        format!(
            "Of longer output than {} in all, the middle is left out: print less, or aggregate. \
             Any verdict but success comes back as an error with a hint.",
            bytes(policy.max_output_bytes)
        ),
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .collect::<Vec<_>>()
    .join("\n")
}

fn network(policy: &SandboxPolicy) -> &'static str {
    if policy.network {
        "The network can be reached."
    } else {
        "No network: nothing can be downloaded or installed; pass data in the code."
    }
}

fn files(policy: &SandboxPolicy) -> String {
    let work = match &policy.work_dir {
        None => "No files of the host are visible.",
        Some(work) if work.writable => "/work holds files of the host and can be written.",
        Some(_) => "/work holds files of the host, read-only.",
    };
    format!(
        "Only /tmp can be written ({} MB, counted as memory, its files cannot be executed); it is \
         the working directory. {work}",
        policy.tmpfs_mb
    )
}

fn limits(policy: &SandboxPolicy) -> String {
    format!(
        "Limits: {} s of time (timeout_seconds can only shorten it), {} MB of memory, {} CPU, \
         {} processes and threads, {} of code.",
        policy.timeout_seconds,
        policy.memory_mb,
        policy.cpus,
        policy.pids_limit,
        bytes(policy.max_code_bytes)
    )
}

fn languages(policy: &SandboxPolicy) -> String {
    let rows = policy.offered_languages().into_iter().map(|name| language(name, policy));
    format!("Languages: {}.", listed(rows))
}

/// A built-in language in its default image has its standard library and no more; of other
/// images only their owner knows what is in them.
fn language(name: &str, policy: &SandboxPolicy) -> String {
    let image = image(name, policy);
    let known = Language::named(name).filter(|language| Some(language.image) == image);
    match (known.map(|language| language.name), image) {
        (Some("python"), _) => format!("{name} (3, standard library only)"),
        (Some("node"), _) => format!("{name} (built-in modules only)"),
        (Some(_), _) => format!("{name} (POSIX sh with the usual small tools)"),
        (None, Some(image)) => format!("{name} (image {image})"),
        (None, None) => name.to_owned(),
    }
}

fn image<'a>(name: &str, policy: &'a SandboxPolicy) -> Option<&'a str> {
    let row =
        policy.languages.iter().find(|(key, _)| key.as_str() == name).map(|(_, row)| &row.image);
    let image =
        || policy.images.iter().find(|(key, _)| key.as_str() == name).map(|(_, image)| image);
    row.or_else(image).map(crate::names::ImageRef::as_str)
}

fn env(policy: &SandboxPolicy) -> String {
    if policy.env.is_empty() {
        return String::new();
    }
    format!("Environment variables: {}.", listed(policy.env.keys().map(ToString::to_string)))
}

/// The items, as many as fit; how many do not is said.
fn listed(items: impl Iterator<Item = String>) -> String {
    let mut list = String::new();
    let mut left_out = 0;
    for item in items {
        let separator = if list.is_empty() { "" } else { ", " };
        if left_out > 0 || list.len() + separator.len() + item.len() > LONGEST_LIST {
            left_out += 1;
        } else {
            list = list + separator + &item;
        }
    }
    match left_out {
        0 => list,
        n if list.is_empty() => format!("{n} with long names"),
        n => format!("{list} and {n} more"),
    }
}

fn bytes(count: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = KIB * KIB;
    match count {
        count if count >= MIB && count.is_multiple_of(MIB) => format!("{} MB", count / MIB),
        count if count >= KIB && count.is_multiple_of(KIB) => format!("{} KB", count / KIB),
        count => format!("{count} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_the_default_policy_says_what_would_otherwise_be_found_by_failing() {
        let text = description(&SandboxPolicy::default());
        for fact in [
            "No network",
            "No files of the host",
            "/tmp can be written (32 MB",
            "10 s of time",
            "256 MB of memory",
            "0.5 CPU",
            "64 processes",
            "1 MB of code",
            "python (3, standard library only), node (built-in modules only), shell (POSIX sh",
            "longer output than 64 KB",
            "stdin is empty",
            "no files, variables or packages survive",
        ] {
            assert!(text.contains(fact), "{fact:?} is not in {text}");
        }
    }

    #[test]
    fn what_the_policy_grants_is_told() {
        let policy = SandboxPolicy::from_json(
            r#"{"network": true, "work_dir": {"path": "/srv/data"}, "env": {"MODE": "x"}, "timeout_seconds": 2.5,
                "images": {"python": "team/python:1"}, "languages": {"ruby": {"image": "ruby:3", "command": ["ruby"]}},
                "max_output_bytes": 100000}"#,
        )
        .unwrap();
        let text = description(&policy);
        for fact in [
            "The network can be reached.",
            "/work holds files of the host, read-only.",
            "Environment variables: MODE.",
            "2.5 s of time",
            "python (image team/python:1), ruby (image ruby:3).",
            "100000 bytes",
        ] {
            assert!(text.contains(fact), "{fact:?} is not in {text}");
        }
        assert!(!text.contains("No network"));
    }

    #[test]
    fn no_policy_makes_the_description_longer_than_clients_show() {
        let rows: Vec<_> = (0..500)
            .map(|n| {
                format!(
                    r#""language-{n:022}": {{"image": "{}", "command": ["x"]}}"#,
                    "i".repeat(200)
                )
            })
            .collect();
        let env: Vec<_> = (0..500).map(|n| format!(r#""{}{n}": "v""#, "V".repeat(200))).collect();
        let policy = format!(
            r#"{{"languages": {{{}}}, "env": {{{}}}, "timeout_seconds": 3599.123456789, "cpus": 0.123456789,
                "memory_mb": 1048576, "tmpfs_mb": 65536, "pids_limit": 32768, "max_code_bytes": 67108863,
                "max_output_bytes": 16777215, "work_dir": {{"path": "/srv", "writable": true}}, "network": false}}"#,
            rows.join(","),
            env.join(",")
        );
        let text = description(&SandboxPolicy::from_json(&policy).unwrap());
        assert!(text.len() <= LONGEST, "{} bytes: {text}", text.len());
        assert!(text.contains("and 49"), "{text}");
        assert!(INSTRUCTIONS.len() <= LONGEST);
    }
}
