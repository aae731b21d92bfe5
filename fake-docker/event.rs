//! One line of the daemon's memory, in the shape that `docker events` prints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::events::shifted;
use crate::store::Container;

/// An event, with the keys in the order of the real CLI.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) status: String,
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) from: String,
    #[serde(rename = "Type")]
    pub(crate) kind: String,
    #[serde(rename = "Action")]
    pub(crate) action: String,
    #[serde(rename = "Actor")]
    pub(crate) actor: Actor,
    pub(crate) scope: String,
    pub(crate) time: u64,
    #[serde(rename = "timeNano")]
    pub(crate) time_nano: u64,
}

/// Whom the event is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Actor {
    #[serde(rename = "ID")]
    pub(crate) id: String,
    #[serde(rename = "Attributes")]
    pub(crate) attributes: BTreeMap<String, String>,
}

impl Event {
    pub(crate) fn new(of: &Container, action: &str, more: &[(&str, &str)], nanos: u64) -> Self {
        let own = [("image", of.image.as_str()), ("name", of.name.as_str())];
        let labels = of.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let attributes = labels.chain(own).chain(more.iter().copied());
        Self {
            status: action.to_owned(),
            id: of.id.clone(),
            from: of.image.clone(),
            kind: "container".to_owned(),
            action: action.to_owned(),
            actor: Actor {
                id: of.id.clone(),
                attributes: attributes.map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
            },
            scope: "local".to_owned(),
            time: nanos / 1_000_000_000,
            time_nano: nanos,
        }
    }

    /// What happened to an image, which the daemon calls by its reference.
    pub(crate) fn of_image(reference: &str, action: &str, nanos: u64) -> Self {
        let repository = reference.rsplit_once(':').map_or(reference, |(name, _)| name);
        Self {
            status: action.to_owned(),
            id: reference.to_owned(),
            from: String::new(),
            kind: "image".to_owned(),
            action: action.to_owned(),
            actor: Actor {
                id: reference.to_owned(),
                attributes: BTreeMap::from([("name".to_owned(), repository.to_owned())]),
            },
            scope: "local".to_owned(),
            time: nanos / 1_000_000_000,
            time_nano: nanos,
        }
    }

    /// The same event, as a clock tells it that is so many seconds ahead.
    pub(crate) fn later_by(&self, seconds: i64) -> Self {
        let nanos = shifted(self.time_nano, seconds);
        Self { time: nanos / 1_000_000_000, time_nano: nanos, ..self.clone() }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn is_about(&self, container: &str) -> bool {
        self.actor.id == container
            || self.actor.attributes.get("name").is_some_and(|name| name == container)
    }

    pub(crate) fn has_label(&self, filter: &str) -> bool {
        has_label(&self.actor.attributes, filter)
    }
}

/// Whether a filter's `key` or `key=value` holds.
pub(crate) fn has_label(labels: &BTreeMap<String, String>, filter: &str) -> bool {
    match filter.split_once('=') {
        Some((key, value)) => labels.get(key).is_some_and(|found| found == value),
        None => labels.contains_key(filter),
    }
}
