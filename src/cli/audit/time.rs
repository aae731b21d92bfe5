//! A time as people say it.

use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

/// A point in time, a date or a time in UTC, or a span of time before now.
pub(super) fn parse(said: &str) -> Result<Timestamp, String> {
    at(said, Timestamp::now())
}

fn at(said: &str, now: Timestamp) -> Result<Timestamp, String> {
    let utc = |time: DateTime| Offset::UTC.to_timestamp(time).ok();
    let day = || utc(said.parse::<Date>().ok()?.at(0, 0, 0, 0));
    let time = || utc(said.parse::<DateTime>().ok()?);
    let ago = || {
        let span = said.parse::<Span>().ok().filter(|span| !span.is_negative())?;
        utc(Offset::UTC.to_datetime(now).checked_sub(span).ok()?)
    };
    let point = said.parse().ok();
    point
        .or_else(|| if said.contains('T') { time() } else { day() })
        .or_else(ago)
        .ok_or_else(|| "expected a time such as 2026-01-31, 2026-01-31T12:00:00Z, 90m or 7d".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_points_dates_and_spans() {
        let now: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
        for (said, meant) in [
            ("2026-01-31", "2026-01-31T00:00:00Z"),
            ("2026-01-31T12:00:00", "2026-01-31T12:00:00Z"),
            ("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"),
            ("90m", "2026-02-28T22:30:00Z"),
            ("7d", "2026-02-22T00:00:00Z"),
            ("1w 2h", "2026-02-21T22:00:00Z"),
        ] {
            assert_eq!(at(said, now).map(|it| it.to_string()).as_deref(), Ok(meant), "{said}");
        }
        for said in ["", "yesterday", "-7d", "2026-13-01", "7", "9999999999999y"] {
            assert!(at(said, now).is_err(), "{said}");
        }
    }
}
