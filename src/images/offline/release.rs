//! Which system and which processor this machine has, in words that are safe in a label.

use std::env::consts;
use std::fs;

use super::error::OfflineError;

/// Refuses a machine whose programs the engine could not run.
pub(super) fn fits(engine_architecture: &str) -> Result<(), OfflineError> {
    if consts::OS != "linux" {
        return Err(OfflineError::NotLinux { os: consts::OS });
    }
    let (machine, engine) = (kernel_name(consts::ARCH), kernel_name(engine_architecture));
    if machine == engine {
        Ok(())
    } else {
        Err(OfflineError::Architecture { machine: machine.to_owned(), engine: engine.to_owned() })
    }
}

/// Docker names architectures as Go does, the kernel and Rust otherwise.
fn kernel_name(architecture: &str) -> &str {
    match architecture.trim() {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        "ppc64le" | "powerpc64" => "powerpc64",
        other => other,
    }
}

/// The system's name for people, such as `Debian GNU/Linux 12 (bookworm)`.
pub(super) fn name() -> String {
    field("PRETTY_NAME").unwrap_or_else(|| consts::OS.to_owned())
}

/// The system's name for machines, such as `debian-12`.
pub(super) fn id() -> String {
    let parts = [field("ID"), field("VERSION_ID")];
    let id = parts.into_iter().flatten().collect::<Vec<_>>().join("-");
    if id.is_empty() { consts::OS.to_owned() } else { id }
}

fn field(name: &str) -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").ok()?;
    value(&text, name)
}

fn value(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    let value = line.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// The text without what a quoted value of a label would give a meaning to.
pub(super) fn quotable(text: &str) -> String {
    let safe = |c: &char| c.is_ascii_alphanumeric() || " ./_-+:,()".contains(*c);
    text.chars().filter(safe).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_words_for_this_architecture_are_understood() {
        let [engine, other] = match consts::ARCH {
            "x86_64" => ["amd64", "arm64"],
            "aarch64" => ["arm64", "amd64"],
            own => [own, "amd64"],
        };
        assert!(fits(engine).is_ok());
        assert!(fits(consts::ARCH).is_ok());
        assert!(matches!(fits(other), Err(OfflineError::Architecture { .. })));
    }

    #[test]
    fn the_systems_name_is_read_quoted_or_not() {
        let text = "PRETTY_NAME=\"Some Linux 1\"\nID=some\nVERSION_ID='1'\nEMPTY=\n";
        assert_eq!(value(text, "PRETTY_NAME").as_deref(), Some("Some Linux 1"));
        assert_eq!(value(text, "ID").as_deref(), Some("some"));
        assert_eq!(value(text, "VERSION_ID").as_deref(), Some("1"));
        assert_eq!(value(text, "EMPTY"), None);
        assert_eq!(value(text, "NAME"), None);
    }

    #[test]
    fn nothing_of_a_hostile_name_reaches_a_label() {
        assert_eq!(quotable("a\"b$HOME\\\n`c` (d)"), "abHOMEc (d)");
    }
}
