//! The table of policy keys: what each means and which values it takes.
//!
//! The loader, the range checks, the JSON Schema and the README's table all come from it.

/// One key of the policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Its name in the policy file.
    pub key: &'static str,
    /// What it decides, in one line.
    pub help: &'static str,
    /// The values it takes.
    pub kind: Kind,
}

/// The values that a key takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number in a range, both ends included.
    Whole(u64, u64),
    /// A number in a range, fractions allowed, both ends included.
    Fraction(f64, f64),
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text with a grammar of its own, or, where the flag says so, null.
    Text(Nullable),
    /// An object whose keys are names and whose values are texts.
    Texts,
    /// An object of language rows.
    Languages,
    /// A directory of the host, or null.
    WorkDir,
}

/// Whether a key may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nullable {
    /// Null means "none".
    Yes,
    /// Null is refused.
    No,
}

/// Every key, in the order in which a policy is printed.
pub const FIELDS: [Field; 21] = [
    Field {
        key: "timeout_seconds",
        help: "how long a program may run, in seconds",
        kind: Kind::Fraction(0.1, 3600.0),
    },
    Field {
        key: "memory_mb",
        help: "memory in MiB, swap included, files in /tmp and /dev/shm counted in",
        kind: Kind::Whole(16, 1_048_576),
    },
    Field { key: "cpus", help: "processors' worth of time", kind: Kind::Fraction(0.05, 512.0) },
    Field {
        key: "pids_limit",
        help: "processes and threads at once",
        kind: Kind::Whole(8, 32_768),
    },
    Field {
        key: "tmpfs_mb",
        help: "size of /tmp in MiB, counted in memory",
        kind: Kind::Whole(1, 65_536),
    },
    Field {
        key: "nofile_limit",
        help: "open file descriptors of each process",
        kind: Kind::Whole(32, 1_048_576),
    },
    Field {
        key: "max_output_bytes",
        help: "output kept of each of stdout and stderr, in bytes",
        kind: Kind::Whole(1024, 16_777_216),
    },
    Field {
        key: "max_code_bytes",
        help: "size of a program, in bytes",
        kind: Kind::Whole(1, 67_108_864),
    },
    Field {
        key: "network",
        help: "whether programs reach the network; warned about on every run",
        kind: Kind::Switch,
    },
    Field {
        key: "user",
        help: "numeric UID:GID that programs run as, never root",
        kind: Kind::Text(Nullable::No),
    },
    Field {
        key: "images",
        help: "the image of each built-in language; a language without one is not offered",
        kind: Kind::Texts,
    },
    Field {
        key: "languages",
        help: "more languages: their image, command, file extensions and variables",
        kind: Kind::Languages,
    },
    Field { key: "env", help: "environment variables that programs see", kind: Kind::Texts },
    Field {
        key: "runtime",
        help: "OCI runtime that must run the container, such as runsc; refused if the engine lacks it",
        kind: Kind::Text(Nullable::Yes),
    },
    Field {
        key: "seccomp",
        help: "filter of system calls: default (the engine's; on podman strict), strict (das's shorter list) or the absolute path of a profile",
        kind: Kind::Text(Nullable::No),
    },
    Field {
        key: "engine",
        help: "auto, docker, podman, nerdctl, or the path of a docker-compatible program",
        kind: Kind::Text(Nullable::No),
    },
    Field {
        key: "work_dir",
        help: "one host directory mounted at /work, read-only unless it says writable",
        kind: Kind::WorkDir,
    },
    Field {
        key: "pull",
        help: "when to pull images; never inside the deadline",
        kind: Kind::Choice(&["never", "missing", "always"]),
    },
    Field {
        key: "warm",
        help: "parked single-use containers for each language in use (das mcp alone)",
        kind: Kind::Whole(0, 32),
    },
    Field {
        key: "warm_idle_seconds",
        help: "how long a parked container may wait unused, in seconds (das mcp alone)",
        kind: Kind::Whole(1, 86_400),
    },
    Field {
        key: "max_concurrent",
        help: "runs at once, further calls queue (das mcp alone)",
        kind: Kind::Whole(1, 256),
    },
];

/// The keys of one row of `languages`.
pub const LANGUAGE_KEYS: [&str; 4] = ["image", "command", "extensions", "env"];

/// The keys of `work_dir`.
pub const WORK_DIR_KEYS: [&str; 2] = ["path", "writable"];

impl Field {
    /// The row of a key.
    pub fn named(key: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.key == key)
    }
}

impl Kind {
    /// What the key expects, for an error message.
    pub fn expectation(self) -> String {
        match self {
            Self::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Self::Fraction(min, max) => format!("a number from {min} to {max}"),
            Self::Switch => "true or false".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Text(Nullable::No) => "a text".to_owned(),
            Self::Text(Nullable::Yes) => "a text or null".to_owned(),
            Self::Texts => "an object of texts".to_owned(),
            Self::Languages => "an object of languages".to_owned(),
            Self::WorkDir => {
                r#"null or an object such as {"path": "/srv/data", "writable": false}"#.to_owned()
            }
        }
    }

    /// Whether a number is in the range of this kind; other kinds hold no number.
    pub fn holds(self, number: f64) -> bool {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "all bounds are far below 2^53")]
            Self::Whole(min, max) => {
                (min as f64..=max as f64).contains(&number) && number.fract() == 0.0
            }
            Self::Fraction(min, max) => (min..=max).contains(&number),
            Self::Switch
            | Self::Choice(_)
            | Self::Text(_)
            | Self::Texts
            | Self::Languages
            | Self::WorkDir => false,
        }
    }
}
