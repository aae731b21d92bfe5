//! Versions, and which of them have known faults.

/// The first numbers of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32, u32);

impl Version {
    /// Reads `28.2.2`, `20.10.24+dfsg1`, `v1.7.3` and the like.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim_start_matches('v').split('.').map(|part| {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..digits].parse().ok()
        });
        let first = numbers.next()??;
        let mut next = || numbers.next().flatten().unwrap_or(0);
        Some(Self(first, next(), next()))
    }
}

/// Something wrong with a version, and what to do.
pub(super) struct Fault {
    pub(super) what: &'static str,
    pub(super) fix: &'static str,
}

/// What is wrong with a Docker client of this version.
pub(super) fn docker_client(version: Version) -> Option<Fault> {
    (Version(28, 0, 0)..Version(28, 1, 0)).contains(&version).then_some(Fault {
        what: "28.0.x can lose the last output of a program (moby/moby#49655)",
        fix: "update the docker CLI to 28.1 or later",
    })
}

/// What is wrong with a Docker engine of this version.
pub(super) fn docker_engine(version: Version) -> Option<Fault> {
    (version < Version(25, 0, 0)).then_some(Fault {
        what: "its makers no longer mend it; a distribution may",
        fix: "update the engine, unless your distribution still mends this version",
    })
}

/// What is wrong with a podman of this version.
pub(super) fn podman(version: Version) -> Option<Fault> {
    (version < Version(4, 0, 0)).then_some(Fault {
        what: "das has not been tried with podman before 4.3",
        fix: "update podman",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_engines_write_them() {
        for (text, version) in [
            ("28.2.2", Some(Version(28, 2, 2))),
            ("20.10.24+dfsg1", Some(Version(20, 10, 24))),
            ("v1.7.3-rc.1", Some(Version(1, 7, 3))),
            ("29", Some(Version(29, 0, 0))),
            ("", None),
            ("dev", None),
        ] {
            assert_eq!(Version::parse(text), version, "{text}");
        }
    }

    #[test]
    fn only_the_versions_with_a_fault_have_one() {
        let client = |text| docker_client(Version::parse(text).unwrap()).is_some();
        assert!(client("28.0.0") && client("28.0.4"));
        assert!(!client("27.5.1") && !client("28.1.0") && !client("28.2.2"));
        let engine = |text| docker_engine(Version::parse(text).unwrap()).is_some();
        assert!(engine("20.10.24+dfsg1") && engine("24.0.9") && !engine("25.0.0"));
    }
}
