//! Shows images as a table for people.

use jiff::Timestamp;

use super::inventory::{Present, Row};

const HEAD: [&str; 6] = ["LANGUAGE", "IMAGE", "STATE", "SIZE", "AGE", "MADE"];

/// One line for each image, columns aligned, at this time.
pub fn table(rows: &[Row], now: Timestamp) -> String {
    let head = HEAD.map(str::to_owned);
    let lines: Vec<[String; 6]> =
        std::iter::once(head).chain(rows.iter().map(|row| cells(row, now))).collect();
    let width = |column: usize| {
        lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    lines.iter().map(|cells| line(cells, widths)).collect()
}

fn line(cells: &[String; 6], widths: [usize; 6]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
    let line = padded.collect::<Vec<_>>().join("  ");
    format!("{}\n", line.trim_end())
}

fn cells(row: &Row, now: Timestamp) -> [String; 6] {
    let Row { language, image, in_policy: _, present } = row;
    let [state, size, age, made] = match present {
        None => ["missing", "-", "-", "-"].map(str::to_owned),
        Some(Present { id: _, bytes, created, made, from: _ }) => {
            ["present".to_owned(), size(*bytes), age(created, now), made.clone()]
        }
    };
    [language.clone(), image.clone(), state, size, age, made]
}

/// A size as the engines show it, in powers of 1000.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000..1_000_000_000 => format!("{} MB", (bytes + 500_000) / 1_000_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes % 1_000_000_000 / 100_000_000),
    }
}

/// How long ago something was, in the largest unit of which there is one.
pub fn age(created: &str, now: Timestamp) -> String {
    let Ok(created) = created.parse::<Timestamp>() else { return "unknown".to_owned() };
    let seconds = now.as_second().saturating_sub(created.as_second()).max(0);
    let units = [
        ("year", 31_536_000),
        ("month", 2_592_000),
        ("week", 604_800),
        ("day", 86_400),
        ("hour", 3600),
    ];
    let unit = units.into_iter().find(|(_, length)| seconds >= *length);
    let (name, length) = unit.unwrap_or(("minute", 60));
    match seconds / length {
        0 => "just now".to_owned(),
        1 => format!("1 {name}"),
        count => format!("{count} {name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-03-01T12:00:00Z";

    fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    #[test]
    fn images_are_shown_in_aligned_columns() {
        let row = |language: &str, image: &str, present| Row {
            language: language.to_owned(),
            image: image.to_owned(),
            in_policy: true,
            present,
        };
        let present = Present {
            id: "sha256:1".to_owned(),
            bytes: 79_200_000,
            created: "2026-03-01T09:59:59.5Z".to_owned(),
            made: "offline".to_owned(),
            from: None,
        };
        let rows = [row("python", "python:3.12-slim", None), row("shell", "x:1", Some(present))];
        assert_eq!(
            table(&rows, now()),
            "LANGUAGE  IMAGE             STATE    SIZE   AGE      MADE\n\
             python    python:3.12-slim  missing  -      -        -\n\
             shell     x:1               present  79 MB  2 hours  offline\n"
        );
    }

    #[test]
    fn ages_are_rounded_down_to_one_unit() {
        for (created, expected) in [
            ("2026-03-01T11:59:30Z", "just now"),
            ("2026-03-01T11:58:00Z", "2 minutes"),
            ("2026-02-28T11:00:00Z", "1 day"),
            ("2026-01-01T00:00:00+00:00", "1 month"),
            ("2020-01-01T00:00:00Z", "6 years"),
            ("2027-01-01T00:00:00Z", "just now"),
            ("", "unknown"),
        ] {
            assert_eq!(age(created, now()), expected, "{created}");
        }
    }

    #[test]
    fn sizes_are_those_that_engines_show() {
        assert_eq!(size(1), "1 kB");
        assert_eq!(size(23_099_999), "23 MB");
        assert_eq!(size(1_250_000_000), "1.2 GB");
    }
}
