//! The images that a policy uses, and those that das has made on an engine.

use serde::Serialize;

use super::commands::{self, EngineError};
use super::inspect::{BAKED_LABEL, LocalImage, OFFLINE_LABEL};
use super::tags;
use crate::engine::Engine;
use crate::policy::SandboxPolicy;

/// One image of one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The language.
    pub language: String,
    /// The image, by its name.
    pub image: String,
    /// Whether the policy uses it; otherwise it is one that das has made.
    pub in_policy: bool,
    /// What the engine knows of it, if it has it.
    pub present: Option<Present>,
}

/// An image that the engine has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Present {
    /// Its id.
    pub id: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was made, in RFC 3339; empty if unknown.
    pub created: String,
    /// How: `pulled`, `offline`, `baked` or `local`.
    pub made: String,
    /// What from, if it says so.
    pub from: Option<String>,
}

impl From<LocalImage> for Present {
    fn from(image: LocalImage) -> Self {
        Self {
            made: image.made.word().to_owned(),
            from: image.made.from().map(str::to_owned),
            id: image.id,
            bytes: image.bytes,
            created: image.created,
        }
    }
}

/// The images of the policy, in the order of its languages, and then those that das has made.
pub fn inventory(engine: &Engine, policy: &SandboxPolicy) -> Result<Vec<Row>, EngineError> {
    let mut rows = Vec::new();
    for (language, image) in policy_images(policy) {
        let present = commands::describe(engine, image)?.map(Present::from);
        let (language, image) = (language.to_owned(), image.to_owned());
        rows.push(Row { language, image, in_policy: true, present });
    }
    let mut made = commands::labelled(engine, OFFLINE_LABEL)?;
    made.extend(commands::labelled(engine, BAKED_LABEL)?);
    let mut made: Vec<Row> = made.into_iter().flat_map(made_rows).collect();
    made.sort_by(|one, other| one.image.cmp(&other.image));
    for row in made {
        if !rows.iter().any(|known: &Row| known.image == row.image) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Each language that the policy offers, with its image.
pub fn policy_images(policy: &SandboxPolicy) -> impl Iterator<Item = (&str, &str)> {
    policy.offered_languages().into_iter().filter_map(|name| {
        let own = policy.languages.iter().find(|(language, _)| language.as_str() == name);
        let image = own.map(|(_, row)| &row.image).or_else(|| {
            let found = policy.images.iter().find(|(language, _)| language.as_str() == name);
            found.map(|(_, image)| image)
        });
        Some((name, image?.as_str()))
    })
}

/// An image that das has made names its language in its own name.
fn made_rows(image: LocalImage) -> Vec<Row> {
    let tags = image.tags.clone();
    let present = Present::from(image);
    let row = |tag: String| {
        let path = tag.strip_prefix(tags::OFFLINE).or_else(|| tag.strip_prefix(tags::BAKED))?;
        let language = path.split_once(':')?.0.to_owned();
        Some(Row { language, image: tag, in_policy: false, present: Some(present.clone()) })
    };
    tags.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::inspect::Made;

    fn image(tags: &[&str], made: Made) -> LocalImage {
        LocalImage {
            id: "sha256:1".to_owned(),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            bytes: 7,
            created: "2026-01-02T03:04:05Z".to_owned(),
            made,
            bare: true,
        }
    }

    #[test]
    fn a_made_image_is_listed_under_the_language_in_its_name() {
        let made = Made::Baked("x with y".to_owned());
        let rows = made_rows(image(&["das-baked/python:y-1", "mine:1"], made));
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].language.as_str(), rows[0].in_policy), ("python", false));
        let present = rows[0].present.as_ref().unwrap();
        assert_eq!((present.made.as_str(), present.from.as_deref()), ("baked", Some("x with y")));
    }

    #[test]
    fn a_policys_own_row_wins_over_the_built_in_image() {
        let json = r#"{"images": {"python": "p", "node": "n"},
            "languages": {"ruby": {"image": "r", "command": ["ruby"]},
                          "node": {"image": "own", "command": ["node", "-"]}}}"#;
        let policy = SandboxPolicy::from_json(json).unwrap();
        let images: Vec<_> = policy_images(&policy).collect();
        assert_eq!(images, [("python", "p"), ("node", "own"), ("ruby", "r")]);
    }
}
