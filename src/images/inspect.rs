//! Images as the engine describes them, and how each was made.

use serde::Deserialize;

/// The label of an image that was made from a machine's own interpreter; its value says which.
pub const OFFLINE_LABEL: &str = "docker-agent-sandbox.offline";
/// The label of an image that packages were added to; its value says which, and to what.
pub const BAKED_LABEL: &str = "docker-agent-sandbox.baked";

/// What podman puts before the name of every image that comes from no registry.
const PODMAN_LOCAL: &str = "localhost/";

/// A local image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalImage {
    /// Its id, which no other image has.
    pub id: String,
    /// Its names on this engine.
    pub tags: Vec<String>,
    /// Its size in bytes, shared layers included.
    pub bytes: u64,
    /// When it was made, in RFC 3339, as its maker says; empty if unknown.
    pub created: String,
    /// How it came here.
    pub made: Made,
    /// Whether it is a machine's own interpreter and nothing that was built upon it: then it has
    /// no installer of packages.
    pub bare: bool,
}

/// How an image came to be on the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// From a registry.
    Pulled,
    /// By das, from this interpreter of a machine.
    Offline(String),
    /// By das, from a base and packages.
    Baked(String),
    /// By somebody on this engine, in another way.
    Local,
}

impl Made {
    /// One word for a table.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Pulled => "pulled",
            Self::Offline(_) => "offline",
            Self::Baked(_) => "baked",
            Self::Local => "local",
        }
    }

    /// What it was made from, if it says so.
    pub fn from(&self) -> Option<&str> {
        match self {
            Self::Offline(from) | Self::Baked(from) => Some(from),
            Self::Pulled | Self::Local => None,
        }
    }
}

/// Reads the array that `image inspect` prints. What is not understood is passed over: the
/// engine's output is not trusted to be well-formed.
pub fn parse(json: &[u8]) -> Vec<LocalImage> {
    let described: Vec<serde_json::Value> = serde_json::from_slice(json).unwrap_or_default();
    let known = described.into_iter().filter_map(|image| serde_json::from_value(image).ok());
    known.map(local_image).collect()
}

/// The parts of the description that docker, podman and nerdctl share.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Described {
    id: String,
    #[serde(default)]
    repo_tags: Option<Vec<String>>,
    #[serde(default)]
    repo_digests: Option<Vec<String>>,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    created: String,
    #[serde(default)]
    config: Option<Config>,
    #[serde(default, rename = "RootFS")]
    root_fs: Option<RootFs>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RootFs {
    #[serde(default)]
    layers: Vec<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Config {
    #[serde(default)]
    labels: Option<std::collections::BTreeMap<String, String>>,
}

fn local_image(image: Described) -> LocalImage {
    let labels = image.config.and_then(|config| config.labels).unwrap_or_default();
    let label = |name: &str| labels.get(name).cloned();
    let digests = image.repo_digests.unwrap_or_default();
    let pulled = digests.iter().any(|digest| !digest.starts_with(PODMAN_LOCAL));
    // What is built upon an image inherits its labels and has more layers.
    let layers = image.root_fs.map_or(0, |root| root.layers.len());
    let bare = labels.contains_key(OFFLINE_LABEL) && layers <= 1;
    let made = match (label(BAKED_LABEL), label(OFFLINE_LABEL)) {
        (Some(baked), _) => Made::Baked(baked),
        (None, Some(offline)) => Made::Offline(offline),
        (None, None) if pulled => Made::Pulled,
        (None, None) => Made::Local,
    };
    let tags = image.repo_tags.unwrap_or_default();
    let plain = |tag: String| tag.strip_prefix(PODMAN_LOCAL).map_or(tag.clone(), str::to_owned);
    let tags = tags.into_iter().map(plain).collect();
    LocalImage { id: image.id, tags, bytes: image.size, created: image.created, made, bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(config: &str, digests: &str) -> Made {
        let json = format!(r#"[{{"Id": "sha256:1", "RepoDigests": {digests}, {config}}}]"#);
        parse(json.as_bytes()).remove(0).made
    }

    #[test]
    fn how_an_image_was_made_is_read_from_its_labels_and_digests() {
        let label = |name: &str| format!(r#""Config": {{"Labels": {{"{name}": "x"}}}}"#);
        assert_eq!(made(&label(OFFLINE_LABEL), "[]"), Made::Offline("x".to_owned()));
        assert_eq!(made(&label(BAKED_LABEL), r#"["a@sha256:1"]"#), Made::Baked("x".to_owned()));
        assert_eq!(made(r#""Config": null"#, r#"["a@sha256:1"]"#), Made::Pulled);
        assert_eq!(made(r#""Config": {"Labels": null}"#, "null"), Made::Local);
        assert_eq!(made(r#""Config": null"#, r#"["localhost/a@sha256:1"]"#), Made::Local);
    }

    #[test]
    fn what_is_built_upon_a_bare_image_is_not_bare() {
        let bare = |layers: &str| {
            let config = format!(r#""Config": {{"Labels": {{"{OFFLINE_LABEL}": "x"}}}}"#);
            let root = format!(r#""RootFS": {{"Type": "layers", "Layers": {layers}}}"#);
            parse(format!(r#"[{{"Id": "1", {config}, {root}}}]"#).as_bytes()).remove(0).bare
        };
        assert!(bare(r#"["sha256:1"]"#));
        assert!(!bare(r#"["sha256:1", "sha256:2"]"#));
    }

    #[test]
    fn size_age_and_names_are_read_and_podmans_own_prefix_falls_away() {
        let json = br#"[{"Id": "sha256:1", "RepoTags": ["localhost/das-offline/shell:1", "a:2"],
            "Created": "2026-01-02T03:04:05.6Z", "Size": 42, "Unknown": {}}]"#;
        let image = parse(json).remove(0);
        assert_eq!(image.tags, ["das-offline/shell:1", "a:2"]);
        assert_eq!((image.bytes, image.created.as_str()), (42, "2026-01-02T03:04:05.6Z"));
    }

    #[test]
    fn what_is_no_description_is_passed_over() {
        assert_eq!(parse(b"garbage"), []);
        assert_eq!(parse(br#"[{"Size": 1}, 3, null]"#), []);
        assert_eq!(parse(b"[]"), []);
    }
}
