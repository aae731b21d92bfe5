//! Decides, for each request on its own, by which version's rules it is served.

use serde_json::{Map, Value, json};

use super::version::{Era, Version};
use crate::mcp::rpc::{ErrorObject, code};
use crate::mcp::text::quoted;

const PREFIX: &str = "io.modelcontextprotocol/";

/// The version of a request: the one in its `_meta`, else the one that `initialize` agreed on.
pub(super) fn version_of(
    params: &Map<String, Value>,
    negotiated: Version,
) -> Result<Version, ErrorObject> {
    let Some(meta) = modern_meta(params) else { return Ok(negotiated) };
    let asked = own(meta, "protocolVersion")
        .ok_or_else(|| missing("protocolVersion"))?
        .as_str()
        .ok_or_else(|| missing("protocolVersion"))?;
    let version = Version::named(asked).ok_or_else(|| unsupported(asked))?;
    match version.era() {
        Era::Modern if !own(meta, "clientCapabilities").is_some_and(Value::is_object) => {
            Err(missing("clientCapabilities"))
        }
        Era::Modern | Era::Legacy => Ok(version),
    }
}

/// Whether a request names the version it is to be served by, or means to.
pub(super) fn is_modern(params: &Map<String, Value>) -> bool {
    modern_meta(params).is_some()
}

fn modern_meta(params: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let meta = params.get("_meta")?.as_object()?;
    let keys = ["protocolVersion", "clientCapabilities", "clientInfo"];
    keys.into_iter().any(|key| own(meta, key).is_some()).then_some(meta)
}

fn own<'a>(meta: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    meta.get(&format!("{PREFIX}{key}"))
}

/// A modern method was asked for in the legacy way, or by a legacy version.
pub(super) fn modern_only(method: &str) -> ErrorObject {
    let newest = Version::ALL[0].name();
    let message =
        format!("{method} needs `_meta[\"{PREFIX}protocolVersion\"]`, and there {newest}");
    ErrorObject::new(code::INVALID_PARAMS, message)
}

/// What a request of the modern era cannot be without.
fn missing(key: &str) -> ErrorObject {
    let what = if key == "protocolVersion" { "a string" } else { "an object" };
    let message = format!("`_meta[\"{PREFIX}{key}\"]` must be {what}");
    ErrorObject::new(code::INVALID_PARAMS, message)
}

fn unsupported(asked: &str) -> ErrorObject {
    ErrorObject::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version")
        .with_data(json!({"supported": supported(), "requested": quoted(asked)}))
}

/// The names of all versions, the newest first.
pub(super) fn supported() -> Vec<&'static str> {
    Version::ALL.map(Version::name).to_vec()
}

/// The key under which a modern result tells who answers.
pub(super) fn server_info_key() -> String {
    format!("{PREFIX}serverInfo")
}

/// The key under which a subscription's messages name it.
pub(super) fn subscription_id_key() -> String {
    format!("{PREFIX}subscriptionId")
}
