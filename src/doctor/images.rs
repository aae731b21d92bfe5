//! The policy's images: whether they are there, and how old they are.

use jiff::Timestamp;

use super::finding::Finding;
use crate::images::inventory::{Present, Row};
use crate::images::table::age;
use crate::policy::{PullPolicy, SandboxPolicy};

/// An image that is older has missed many repairs.
const OLD_SECONDS: i64 = 180 * 86_400;

pub(super) fn check(rows: &[Row], policy: &SandboxPolicy, now: Timestamp) -> Vec<Finding> {
    rows.iter().filter(|row| row.in_policy).map(|row| judge(row, rows, policy, now)).collect()
}

fn judge(row: &Row, rows: &[Row], policy: &SandboxPolicy, now: Timestamp) -> Finding {
    let Row { language, image, in_policy: _, present } = row;
    match present {
        Some(present) => of_age(&format!("{language}: {image}"), present, now),
        None => absent(row, rows, policy),
    }
}

fn of_age(name: &str, present: &Present, now: Timestamp) -> Finding {
    let Ok(created) = present.created.parse::<Timestamp>() else {
        return Finding::ok("images", format!("{name}, {}, of unknown age", present.made));
    };
    let found = format!("{name}, {}, {} old", present.made, age(&present.created, now));
    // Some builders date every image at the beginning of Unix time.
    let dated = created.as_second() > 86_400;
    if dated && now.as_second().saturating_sub(created.as_second()) > OLD_SECONDS {
        let fix = "`das image pull` or `das image build` makes it current";
        Finding::note("images", found, fix)
    } else {
        Finding::ok("images", found)
    }
}

fn absent(row: &Row, rows: &[Row], policy: &SandboxPolicy) -> Finding {
    let Row { language, image, .. } = row;
    let other = rows.iter().find(|other| !other.in_policy && other.language == *language);
    let found = match other {
        Some(other) => format!("{language}: {image} is not here, but {} is", other.image),
        None => format!("{language}: {image} is not here"),
    };
    let fix =
        format!("`das image pull {language}`, or `das image build {language}` without a network");
    match policy.pull {
        PullPolicy::Never => Finding::weak("images", format!("{found}, and is never pulled"), &fix),
        PullPolicy::Missing | PullPolicy::Always => Finding::note("images", found, &fix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    fn row(image: &str, created: Option<&str>, in_policy: bool) -> Row {
        let present = created.map(|created| Present {
            id: "sha256:1".to_owned(),
            bytes: 1,
            created: created.to_owned(),
            made: "pulled".to_owned(),
            from: None,
        });
        Row { language: "python".to_owned(), image: image.to_owned(), in_policy, present }
    }

    fn found(rows: &[Row], policy: &SandboxPolicy) -> (State, String) {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let findings = check(rows, policy, now);
        assert_eq!(findings.len(), 1);
        (findings[0].state, findings[0].found.clone())
    }

    #[test]
    fn an_old_image_is_noted_and_an_undated_one_is_not() {
        let policy = SandboxPolicy::default();
        for (created, state, text) in [
            ("2026-02-01T00:00:00Z", State::Ok, "python: p:1, pulled, 4 weeks old"),
            ("2025-02-01T00:00:00Z", State::Note, "python: p:1, pulled, 1 year old"),
            ("1970-01-01T00:00:00Z", State::Ok, "python: p:1, pulled, 56 years old"),
            ("", State::Ok, "python: p:1, pulled, of unknown age"),
        ] {
            let rows = [row("p:1", Some(created), true)];
            assert_eq!(found(&rows, &policy), (state, text.to_owned()));
        }
    }

    #[test]
    fn a_missing_image_is_weak_only_where_it_is_never_pulled() {
        let rows = [row("p:1", None, true), row("das-offline/python:3", Some(""), false)];
        let missing = "python: p:1 is not here, but das-offline/python:3 is";
        assert_eq!(found(&rows, &SandboxPolicy::default()), (State::Note, missing.to_owned()));
        let never = SandboxPolicy { pull: PullPolicy::Never, ..SandboxPolicy::default() };
        assert_eq!(found(&rows, &never), (State::Weak, format!("{missing}, and is never pulled")));
    }
}
