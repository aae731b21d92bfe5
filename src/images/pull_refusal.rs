//! Why an image could not be pulled, told from the engine's own words.
//!
//! Nothing of these words comes from a program in a sandbox: a pull runs none.

use crate::names::ImageRef;

/// The kinds of failed pulls that differ in what helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullRefusal {
    /// The engine itself does not answer.
    NoEngine,
    /// No registry answers at that address: no network, no name, no listener.
    NoRegistry,
    /// The registry has no such image, or hides it from strangers.
    Unknown,
    /// The registry wants to know who asks, and that one may not have the image.
    Denied,
    /// The registry wants a pause.
    RateLimited,
    /// The image is not made for the engine's architecture.
    WrongPlatform,
    /// The engine's disk is full.
    DiskFull,
    /// Anything else; the engine's words are all there is.
    Other,
}

/// Phrases of docker, podman and nerdctl in small letters, the most telling first: the text of a
/// daemon that is down also has `connection refused`, that of a hidden image also `denied`.
const PHRASES: [(PullRefusal, &[&str]); 7] = [
    (
        PullRefusal::NoEngine,
        &[
            "cannot connect to the docker daemon",
            "trying to connect to the docker daemon",
            "trying to connect to the docker api",
            "permission denied while trying to connect",
            "dial unix",
            "context not found",
            "failed to connect to the docker api",
            "error during connect",
            "failed to initialize",
            "unable to connect to podman",
            "cannot connect to podman",
            "cannot access containerd socket",
        ],
    ),
    (PullRefusal::DiskFull, &["no space left on device", "disk quota exceeded"]),
    (PullRefusal::WrongPlatform, &["no matching manifest for", "no image found in manifest list"]),
    (PullRefusal::RateLimited, &["toomanyrequests", "too many requests", "rate limit"]),
    (
        PullRefusal::Unknown,
        &[
            "repository does not exist",
            "repository name not known",
            "manifest unknown",
            "manifest for",
            "name unknown",
            "not found: does not exist",
            ": not found",
            "404 not found",
        ],
    ),
    (
        PullRefusal::Denied,
        &[
            "access denied",
            "access to the resource is denied",
            "access forbidden",
            "unauthorized",
            "authentication required",
            "no basic auth credentials",
            "401 unauthorized",
            "403 forbidden",
            "denied:",
        ],
    ),
    (
        PullRefusal::NoRegistry,
        &[
            "no such host",
            "name resolution",
            "server misbehaving",
            "could not resolve",
            "connection refused",
            "connection reset by peer",
            "connection timed out",
            "no route to host",
            "network is unreachable",
            "i/o timeout",
            "tls handshake timeout",
            "client.timeout exceeded",
            "context deadline exceeded",
            "request canceled while waiting for connection",
            "proxyconnect",
        ],
    ),
];

impl PullRefusal {
    /// Reads what the engine said when it failed to pull `image`.
    pub fn of(image: &ImageRef, said: &str) -> Self {
        // The image's own name must not pass for a phrase.
        let said = said.replace(image.as_str(), "").to_ascii_lowercase();
        let told = |phrases: &[&str]| phrases.iter().any(|phrase| said.contains(phrase));
        PHRASES
            .iter()
            .find(|(_, phrases)| told(phrases))
            .map_or(Self::Other, |(refusal, _)| *refusal)
    }

    /// What happened, as far as it can be told.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NoEngine => "the engine does not answer",
            Self::NoRegistry => "no registry can be reached",
            Self::Unknown => "the registry has no such image, or hides it from strangers",
            Self::Denied => "the registry does not let this user have it",
            Self::RateLimited => "the registry wants a pause",
            Self::WrongPlatform => "it is not made for the engine's architecture",
            Self::DiskFull => "the engine's disk is full",
            Self::Other => "the engine refused",
        }
    }

    /// What helps, in one sentence without a full stop.
    pub const fn fix(self) -> &'static str {
        match self {
            Self::NoEngine => "start the engine, or see `das doctor`",
            Self::NoRegistry => {
                "check the network and the registry's name; `das image build LANGUAGE` makes an \
                 image from this machine's own interpreter"
            }
            Self::Unknown => {
                "check the image's name and tag; if it is private, log in first (`docker login`)"
            }
            Self::Denied => "log in to the registry first (`docker login`)",
            Self::RateLimited => {
                "wait, or log in to the registry (`docker login`) for a higher limit"
            }
            Self::WrongPlatform => "name an image that is made for the engine's architecture",
            Self::DiskFull => {
                "free space on the engine's disk (`docker system df` shows what takes it)"
            }
            Self::Other => "pull it by hand to see more (`docker pull IMAGE`)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(image: &str, said: &str) -> PullRefusal {
        PullRefusal::of(&image.parse().unwrap(), said)
    }

    #[test]
    fn the_words_of_the_engines_are_understood() {
        let cases = [
            (
                PullRefusal::NoRegistry,
                "Error response from daemon: Get \"https://registry.example/v2/\": dial tcp: lookup registry.example on 192.0.2.53:53: no such host",
            ),
            (
                PullRefusal::NoRegistry,
                "Error response from daemon: Get \"http://localhost:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused",
            ),
            (
                PullRefusal::NoRegistry,
                "Error response from daemon: Get \"https://registry.example/v2/\": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)",
            ),
            (
                PullRefusal::NoRegistry,
                "Error: initializing source docker://python:3.12-slim: pinging container registry registry.example: Get \"https://registry.example/v2/\": dial tcp: lookup registry.example: Temporary failure in name resolution",
            ),
            (
                PullRefusal::Unknown,
                "Error response from daemon: manifest for python:9 not found: manifest unknown: manifest unknown",
            ),
            (
                PullRefusal::Unknown,
                "Error response from daemon: pull access denied for nosuch, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
            ),
            (
                PullRefusal::Denied,
                "Error response from daemon: Head \"https://registry.example/v2/a/manifests/1\": unauthorized: authentication required",
            ),
            (
                PullRefusal::RateLimited,
                "Error response from daemon: toomanyrequests: You have reached your pull rate limit.",
            ),
            (
                PullRefusal::WrongPlatform,
                "no matching manifest for linux/arm64/v8 in the manifest list entries",
            ),
            (
                PullRefusal::DiskFull,
                "failed to register layer: Error processing tar file(exit status 1): write /x: no space left on device",
            ),
            (
                PullRefusal::NoEngine,
                "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            ),
            (
                PullRefusal::NoEngine,
                "error during connect: Get \"http://192.0.2.1:2375/v1.41/info\": dial tcp 192.0.2.1:2375: connect: connection refused",
            ),
            (
                PullRefusal::Other,
                "Error response from daemon: x509: certificate signed by unknown authority",
            ),
            (PullRefusal::Other, ""),
        ];
        for (expected, said) in cases {
            assert_eq!(refusal("python:3.12-slim", said), expected, "{said}");
        }
    }

    #[test]
    fn an_images_name_is_not_taken_for_a_reason() {
        let said = "Error response from daemon: Get \"https://unauthorized/v2/\": EOF";
        assert_eq!(refusal("unauthorized", said), PullRefusal::Other);
        assert_eq!(refusal("toomanyrequests:1", "toomanyrequests:1: EOF"), PullRefusal::Other);
    }
}
