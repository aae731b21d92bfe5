//! `context`: the part of the CLI that needs no daemon.

use serde_json::json;

use crate::args::{Flags, Order};
use crate::containers::inspected;
use crate::daemon::{context as current, host};
use crate::failure::Failure;
use crate::scenario::Answer;
use crate::template;

const FLAGS: Flags = Flags { switches: &[], valued: &["--format"], aliases: &[("-f", "--format")] };

pub(crate) fn context(words: &[String]) -> Result<Answer, Failure> {
    let args = FLAGS.parse(Order::Mixed, words)?;
    let operands: Vec<&str> = args.operands.iter().map(String::as_str).collect();
    match (operands.as_slice(), args.value("--format")) {
        (["show"], None) => Ok(Answer::ok(format!("{}\n", current()))),
        (["ls"], Some(format)) => {
            Ok(Answer::ok(format!("{}\n", template::render(format, &listed())?)))
        }
        (["inspect"], format) if current() == "default" => inspected(&[details()], format),
        _ => Err(Failure::unplayed("this use of `context`")),
    }
}

fn listed() -> serde_json::Value {
    json!({
        "Current": current() == "default",
        "Description": "Current DOCKER_HOST based configuration",
        "DockerEndpoint": host(),
        "Error": "",
        "Name": "default",
    })
}

fn details() -> serde_json::Value {
    json!({
        "Name": "default",
        "Metadata": {},
        "Endpoints": { "docker": { "Host": host(), "SkipTLSVerify": false } },
        "TLSMaterial": {},
        "Storage": { "MetadataPath": "<IN MEMORY>", "TLSPath": "<IN MEMORY>" },
    })
}
