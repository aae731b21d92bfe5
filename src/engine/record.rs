//! The engine's own record of one container, read from its events.
//!
//! Exit codes and messages can be imitated by the program; this record cannot.

use std::time::Duration;

use serde_json::Value;

use crate::tag::OWNER_LABEL;

/// What the engine remembers of one container.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record {
    /// The first 16 hexadecimal digits of the container's id.
    pub id: Option<u64>,
    /// When it was made, in nanoseconds of Unix time on the engine's clock.
    pub created: Option<u64>,
    /// When it was started, on the same clock.
    pub started: Option<u64>,
    /// The kernel's OOM killer struck in it, at whichever process.
    pub oom: bool,
    /// It ended, with this exit code.
    pub died: Option<i32>,
    /// When it ended, on the same clock.
    pub died_at: Option<u64>,
    /// It was removed.
    pub destroyed: bool,
}

impl Record {
    /// Reads lines of JSON as `docker events` and `podman events` print them. Lines that are
    /// something else are passed over: the engine's output is not trusted to be well-formed. So
    /// are events of somebody else's container of the same name.
    pub fn parse(lines: &[u8], owner: &str) -> Self {
        let mut record = Self::default();
        for line in lines.split(|&byte| byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(event) if is_of(&event, owner) => record.note(&event),
                Ok(_) | Err(_) => {}
            }
        }
        record
    }

    /// Whether the container may still be there after its client's end.
    pub fn left_behind(&self) -> bool {
        (self.created.is_some() || self.ran()) && self.died.is_none() && !self.destroyed
    }

    /// Whether the engine remembers nothing: there never was such a container, or the engine has
    /// been restarted, or was too busy.
    pub fn is_empty(&self) -> bool {
        self.created.is_none() && !self.ran() && !self.destroyed
    }

    /// Whether its program ever ran. A busy engine forgets the start before the end.
    pub fn ran(&self) -> bool {
        self.started.is_some() || self.died.is_some()
    }

    /// How long the engine took from making the container to starting it. Both times are the
    /// engine's own, so that a clock that differs from das's does no harm.
    pub fn start_delay(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.started?.saturating_sub(self.created?)))
    }

    /// How long the container ran.
    pub fn lifetime(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.died_at?.saturating_sub(self.started?)))
    }

    fn note(&mut self, event: &Value) {
        self.id = self.id.or_else(|| id(event));
        let action = ["Action", "status", "Status"].iter().find_map(|key| event[*key].as_str());
        match action {
            Some("create") => self.created = Some(time(event)),
            Some("start") => self.started = Some(time(event)),
            Some("oom") => self.oom = true,
            Some("die" | "died") => {
                self.died = exit_code(event);
                self.died_at = Some(time(event));
            }
            Some("destroy" | "remove") => self.destroyed = true,
            _ => {}
        }
    }
}

/// Docker puts a container's labels into its events, podman into most of its own: an event
/// without any is believed for its name.
fn is_of(event: &Value, owner: &str) -> bool {
    let attributes = [&event["Actor"]["Attributes"], &event["Attributes"]];
    let attributes = attributes.into_iter().find_map(Value::as_object);
    attributes.is_none_or(|attributes| attributes.get(OWNER_LABEL).is_some_and(|it| it == owner))
}

fn id(event: &Value) -> Option<u64> {
    let id = ["id", "ID"].iter().find_map(|key| event[*key].as_str())?;
    u64::from_str_radix(id.get(..16)?, 16).ok()
}

/// Docker counts nanoseconds, podman writes RFC 3339, older ones of it count seconds.
fn time(event: &Value) -> u64 {
    let written = || {
        let time: jiff::Timestamp = event["Time"].as_str()?.parse().ok()?;
        u64::try_from(time.as_nanosecond()).ok()
    };
    let seconds = || event["time"].as_u64()?.checked_mul(1_000_000_000);
    event["timeNano"].as_u64().or_else(written).or_else(seconds).unwrap_or(0)
}

fn exit_code(event: &Value) -> Option<i32> {
    let places = [
        &event["Actor"]["Attributes"]["exitCode"],
        &event["ContainerExitCode"],
        &event["Attributes"]["containerExitCode"],
    ];
    let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    places.into_iter().find_map(number).and_then(|code| i32::try_from(code).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docker(action: &str, more: &str) -> String {
        format!(
            r#"{{"Action":"{action}","id":"00deadbeef123456789abcdef","Actor":{{"Attributes":{{"{OWNER_LABEL}":"me"{more}}}}},"time":5,"timeNano":5000000007}}"#
        )
    }

    #[test]
    fn a_dockers_record_is_read() {
        let lines = [
            docker("create", ""),
            docker("start", ""),
            docker("oom", ""),
            docker("die", r#","exitCode":"137""#),
            docker("destroy", ""),
        ];
        let expected = Record {
            id: Some(0x00de_adbe_ef12_3456),
            created: Some(5_000_000_007),
            started: Some(5_000_000_007),
            oom: true,
            died: Some(137),
            died_at: Some(5_000_000_007),
            destroyed: true,
        };
        assert_eq!(Record::parse(lines.join("\n").as_bytes(), "me"), expected);
    }

    #[test]
    fn a_podmans_record_is_read() {
        let event = |status: &str, more: &str| {
            format!(
                r#"{{{more}"Name":"x","Status":"{status}","Time":"1970-01-01T00:00:05.000000007Z","Attributes":{{"{OWNER_LABEL}":"me"}}}}"#
            )
        };
        let lines = [
            event("create", ""),
            event("start", ""),
            event("died", r#""ContainerExitCode":3,"#),
            event("remove", ""),
        ]
        .join("\n");
        let at = Some(5_000_000_007);
        let expected = Record {
            created: at,
            started: at,
            oom: false,
            died: Some(3),
            died_at: at,
            id: None,
            destroyed: true,
        };
        assert_eq!(Record::parse(lines.as_bytes(), "me"), expected);
        assert_eq!(Record::parse(lines.as_bytes(), "you"), Record::default());
    }

    #[test]
    fn an_old_podmans_record_has_whole_seconds_and_no_labels() {
        let lines = br#"{"Name":"x","Status":"start","time":5}
{"ContainerExitCode":3,"Name":"x","Status":"died"}"#;
        let expected = Record {
            started: Some(5_000_000_000),
            died: Some(3),
            died_at: Some(0),
            ..Record::default()
        };
        assert_eq!(Record::parse(lines, "me"), expected);
    }

    #[test]
    fn the_container_of_somebody_else_with_the_same_name_is_not_ours() {
        let lines = [docker("create", ""), docker("start", "")].join("\n");
        assert_eq!(Record::parse(lines.as_bytes(), "you"), Record::default());
    }

    #[test]
    fn a_container_without_an_end_may_be_left_behind() {
        let created = Record { created: Some(1), ..Record::default() };
        assert!(created.left_behind());
        assert!(!Record { destroyed: true, ..created }.left_behind());
        assert!(!Record { died: Some(0), ..created }.left_behind());
        assert!(!Record::default().left_behind());
    }

    #[test]
    fn garbage_is_no_record() {
        for garbage in [&b""[..], b"null", b"[1]\n{\"Action\":3}\n", b"\xff\xfe{", b"\"start\""] {
            assert_eq!(Record::parse(garbage, "me"), Record::default(), "{garbage:?}");
        }
    }
}
