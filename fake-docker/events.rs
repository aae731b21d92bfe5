//! `events`: what the daemon remembers, and what happens while the command waits.

use std::io::{self, Write};

use jiff::Timestamp;

use crate::args::{Args, Flags, Order};
use crate::call::Call;
use crate::event::Event;
use crate::failure::Failure;
use crate::scenario::{Answer, Events};
use crate::store::now_nanos;
use crate::template;

const EVENTS: Flags = Flags {
    switches: &[],
    valued: &["--since", "--until", "--filter", "--format"],
    aliases: &[("-f", "--filter")],
};

/// Cut off in the middle of a line, with a line of another tongue before it.
const GARBAGE: &str = "<html>502 Bad Gateway</html>\n{\"status\":\"die\",\"id\":\"\n";

/// Which events are asked for, in nanoseconds since 1970 on the client's clock. `until` itself is
/// not in.
struct Query<'a> {
    since: u64,
    until: Option<u64>,
    /// How far the daemon's clock is ahead of that, in seconds.
    ahead: i64,
    filters: Vec<(&'a str, &'a str)>,
    format: &'a str,
    without: Vec<String>,
}

pub(crate) fn events(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let args = EVENTS.parse(Order::Mixed, words)?;
    let mut query = Query::of(&args, call.scenario.clock_ahead_seconds)?;
    if let Some(answer) = call.reach_daemon("Get /v1.50/events")? {
        return Ok(answer);
    }
    match call.behaviour(&call.scenario.events) {
        Events::Normal => query.answer(call),
        Events::Without(actions) => {
            query.without = actions;
            query.answer(call)
        }
        Events::Empty => Ok(Answer::default()),
        Events::Garbage => Ok(Answer::ok(GARBAGE)),
        Events::Hangs => call.state.hang(),
        Events::Answers(answer) => Ok(answer),
    }
}

impl<'a> Query<'a> {
    fn of(args: &'a Args, ahead: i64) -> Result<Self, Failure> {
        let time = |flag| args.value(flag).map(nanos).transpose();
        let own = |time: Option<u64>| time.map(|time| shifted(time, -ahead));
        Ok(Self {
            // Without --since only new events count.
            since: own(time("--since")?).unwrap_or_else(now_nanos),
            until: own(time("--until")?),
            ahead,
            filters: args.filters()?,
            format: args.value("--format").ok_or_else(|| Failure::unplayed("no --format"))?,
            without: Vec::new(),
        })
    }

    /// Prints what there is, then what comes until the end of the time asked for.
    fn answer(&self, call: &Call) -> Result<Answer, Failure> {
        let mut seen = 0;
        call.state.wait(|| {
            let over = self.until.is_some_and(|until| now_nanos() >= until);
            let events = call.store.events()?;
            match self.print(events.get(seen..).unwrap_or_default()) {
                Ok(printed) => printed?,
                // Nobody wants to know any more.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(Some(Answer::default()));
                }
                Err(error) => return Err(call.state.failure(call.state.dir(), error)),
            }
            seen = events.len();
            Ok(over.then(Answer::default))
        })
    }

    fn print(&self, events: &[Event]) -> io::Result<Result<(), Failure>> {
        let mut stdout = io::stdout().lock();
        for event in events.iter().filter(|event| self.wants(event)) {
            match self.line(&event.later_by(self.ahead)) {
                Ok(line) => writeln!(stdout, "{line}")?,
                Err(failure) => return Ok(Err(failure)),
            }
        }
        stdout.flush().map(Ok)
    }

    fn line(&self, event: &Event) -> Result<String, Failure> {
        match self.format {
            // In the order of the real keys.
            "json" | "{{json .}}" => Ok(event.to_json()),
            format => template::render(format, &serde_json::json!(event)),
        }
    }

    fn wants(&self, event: &Event) -> bool {
        let in_time =
            event.time_nano >= self.since && self.until.is_none_or(|until| event.time_nano < until);
        in_time && !self.without.contains(&event.action) && self.matches(event)
    }

    /// Filters of one key are alternatives; different keys must all hold.
    fn matches(&self, event: &Event) -> bool {
        self.filters.iter().all(|(key, _)| {
            let same = self.filters.iter().filter(|(other, _)| other == key);
            same.into_iter().any(|(key, value)| holds(key, value, event))
        })
    }
}

/// So many seconds later.
pub(crate) fn shifted(nanos: u64, seconds: i64) -> u64 {
    let by = seconds.unsigned_abs() * 1_000_000_000;
    if seconds < 0 { nanos.saturating_sub(by) } else { nanos.saturating_add(by) }
}

fn holds(key: &str, value: &str, event: &Event) -> bool {
    match key {
        "container" => event.is_about(value),
        "event" => event.action == value,
        "type" => event.kind == value,
        "image" => event.from == value,
        "label" => event.has_label(value),
        _ => false,
    }
}

/// Reads seconds since 1970, with a fraction or without, or an RFC 3339 time.
fn nanos(text: &str) -> Result<u64, Failure> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if digits(seconds) && digits(fraction) && !seconds.is_empty() && fraction.len() <= 9 {
        let nanos = format!("{seconds}{fraction:0<9}").parse();
        return nanos.map_err(|_| Failure::unplayed(format!("time `{text}`")));
    }
    let time: Timestamp = text.parse().map_err(|_| Failure::unplayed(format!("time `{text}`")))?;
    u64::try_from(time.as_nanosecond()).map_err(|_| Failure::unplayed(format!("time `{text}`")))
}
