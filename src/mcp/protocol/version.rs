//! The protocol's revisions and what each of them has.

/// A revision of MCP that das serves, older ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// How a client and a server agree on a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Once, with `initialize`.
    Legacy,
    /// In the `_meta` of each request.
    Modern,
}

impl Version {
    /// All of them, the newest first.
    pub(crate) const ALL: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];

    /// What `initialize` agrees on with a client whose own version das does not know.
    pub(crate) const NEWEST_LEGACY: Self = Self::V2025_11_25;

    /// Its name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The version of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// What `initialize` answers to a client that asks for the version of this name: the same
    /// if it can be had that way. It never fails, for clients leave when it does.
    pub(crate) fn negotiated(asked: &str) -> Self {
        Self::named(asked)
            .filter(|version| version.era() == Era::Legacy)
            .unwrap_or(Self::NEWEST_LEGACY)
    }

    pub(crate) const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => {
                Era::Legacy
            }
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// Whether several messages may come in one JSON array.
    pub(crate) fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether tools carry `annotations`.
    pub(crate) fn has_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether progress may come with a `message`.
    pub(crate) fn has_progress_messages(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether tools and implementations have a `title`, and tools a `_meta`.
    pub(crate) fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether there are `outputSchema` and `structuredContent`.
    pub(crate) fn has_structured_content(self) -> bool {
        self >= Self::V2025_06_18
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initialize_agrees_on_the_version_that_the_client_asked_for_or_on_the_newest_it_can() {
        for (asked, agreed) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-03-26"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("2024-10-07", "2025-11-25"),
            ("2099-01-01", "2025-11-25"),
            ("", "2025-11-25"),
        ] {
            assert_eq!(Version::negotiated(asked).name(), agreed, "{asked}");
        }
    }

    #[test]
    fn versions_are_told_newest_first() {
        assert!(Version::ALL.is_sorted_by(|newer, older| newer > older));
    }
}
