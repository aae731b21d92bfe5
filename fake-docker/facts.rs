//! `version` and `info`, as the real CLI answered once, with what the scenario changes.

use serde_json::{Value, json};

use crate::args::{Flags, Order};
use crate::call::Call;
use crate::containers;
use crate::events::shifted;
use crate::failure::Failure;
use crate::scenario::{Answer, Facts};
use crate::store::now_nanos;
use crate::template;

const FLAGS: Flags = Flags { switches: &[], valued: &["--format"], aliases: &[("-f", "--format")] };
const VERSION: &str = include_str!("answers/version.json");
const INFO: &str = include_str!("answers/info.json");
const INFO_WITHOUT_DAEMON: &str = include_str!("answers/info-without-daemon.json");

pub(crate) fn version(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let mut without_daemon = parsed(VERSION)?;
    without_daemon["Server"] = json!(null);
    without_daemon["Client"]["ApiVersion"] = without_daemon["Client"]["DefaultAPIVersion"].clone();
    answer(call, words, &call.scenario.version, parsed(VERSION)?, &without_daemon)
}

pub(crate) fn info(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let mut info = parsed(INFO)?;
    let now = shifted(now_nanos(), call.scenario.clock_ahead_seconds);
    info["SystemTime"] = json!(containers::time(now));
    answer(call, words, &call.scenario.info, info, &parsed(INFO_WITHOUT_DAEMON)?)
}

/// The names that `--runtime` may have.
pub(crate) fn runtimes(call: &Call) -> Result<Vec<String>, Failure> {
    let mut info = parsed(INFO)?;
    merge(&mut info, &call.scenario.info.patch);
    let runtimes = info["Runtimes"].as_object().map(|runtimes| runtimes.keys().cloned().collect());
    Ok(runtimes.unwrap_or_default())
}

/// RFC 7396, but for a patch that is null as a whole: that changes nothing.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (_, Value::Null) => {}
        (Value::Object(target), Value::Object(patch)) => {
            for (key, patch) in patch {
                if patch.is_null() {
                    target.remove(key);
                } else {
                    merge(target.entry(key.as_str()).or_insert(Value::Null), patch);
                }
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}

fn answer(
    call: &Call,
    words: &[String],
    facts: &Facts,
    mut value: Value,
    without_daemon: &Value,
) -> Result<Answer, Failure> {
    let args = FLAGS.parse(Order::Mixed, words)?;
    let Some(format) = args.value("--format") else {
        return Err(Failure::unplayed("no --format"));
    };
    let error = call.reach_daemon("Get /v1.50/version")?;
    match (error, &facts.answers) {
        (Some(error), _) if error.is_of_the_cli() => Ok(error),
        (Some(error), _) => {
            let text = template::render(format, without_daemon)?;
            Ok(Answer { stdout: format!("{text}\n"), ..error })
        }
        (None, Some(answer)) => Ok(answer.clone()),
        (None, None) => {
            merge(&mut value, &facts.patch);
            Ok(Answer::ok(format!("{}\n", template::render(format, &value)?)))
        }
    }
}

fn parsed(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::unplayed(error.to_string()))
}
