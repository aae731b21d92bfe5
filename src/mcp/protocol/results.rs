//! The results of the protocol's own methods, each shaped for the version it answers.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::era::{server_info_key, subscription_id_key, supported};
use super::version::{Era, Version};
use crate::mcp::rpc::{OutgoingNotification, RequestId, body};
use crate::mcp::tool::{CallResult, INSTRUCTIONS, Structured, Tool};

/// How long a client may keep a list: it changes only with the process.
const LIST_TTL_MS: u64 = 3_600_000;

pub(super) fn initialize(version: Version) -> Value {
    json!({
        "protocolVersion": version.name(),
        "capabilities": capabilities(),
        "serverInfo": server_info(version),
        "instructions": INSTRUCTIONS,
    })
}

pub(super) fn discover(version: Version) -> Value {
    let result = json!({
        "supportedVersions": supported(),
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
    });
    list(version, result)
}

pub(super) fn tools(version: Version, tool: &Tool) -> Value {
    list(version, json!({"tools": [tool.definition(version)]}))
}

/// The list never changes, so there is nothing to say of changes to it.
fn capabilities() -> Value {
    json!({"tools": {}})
}

fn server_info(version: Version) -> Value {
    let mut info = json!({"name": "das", "version": env!("CARGO_PKG_VERSION")});
    if version.has_titles() {
        info["title"] = json!("das: code in a throwaway container");
    }
    info
}

/// A result that modern clients may keep for a while.
fn list(version: Version, mut result: Value) -> Value {
    if version.era() == Era::Modern {
        result["ttlMs"] = json!(LIST_TTL_MS);
        result["cacheScope"] = json!("public");
        result["resultType"] = json!("complete");
        result["_meta"] = Value::Object(modern_meta(version));
    }
    result
}

fn modern_meta(version: Version) -> Map<String, Value> {
    Map::from_iter([(server_info_key(), server_info(version))])
}

/// The result of a tool call, as a version has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolsCall<'a> {
    content: [Value; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a Structured>,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Map<String, Value>>,
}

/// Shapes what a call came to for the version of its request.
pub(crate) fn call(version: Version, result: &CallResult) -> Box<RawValue> {
    let modern = version.era() == Era::Modern;
    body(&ToolsCall {
        content: [json!({"type": "text", "text": result.text})],
        structured_content: version.has_structured_content().then_some(&result.structured),
        is_error: result.is_error(),
        result_type: modern.then_some("complete"),
        meta: modern.then(|| modern_meta(version)),
    })
}

/// What tells a client that its subscription holds. Nothing that das has ever changes, so
/// it subscribes to nothing.
pub(crate) fn subscription_acknowledged(id: &RequestId) -> OutgoingNotification<Value> {
    OutgoingNotification::new(
        "notifications/subscriptions/acknowledged",
        json!({"_meta": {subscription_id_key(): id}, "notifications": {}}),
    )
}

/// The answer to a subscription at the end of the server.
pub(crate) fn subscription_ended(id: &RequestId) -> Box<RawValue> {
    body(&json!({"resultType": "complete", "_meta": {subscription_id_key(): id}}))
}
