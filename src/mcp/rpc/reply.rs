//! What is sent: responses, errors and notifications, as JSON-RPC spells them.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::RequestId;

/// Error codes.
pub(crate) mod code {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL_ERROR: i32 = -32603;
    /// MCP: the version that a request names is not served.
    pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
}

/// The error member of a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ErrorObject {
    pub(crate) code: i32,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl ErrorObject {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

/// What a request is answered with: a result, serialised already, or an error.
pub(crate) type Reply = Result<Box<RawValue>, ErrorObject>;

/// Serialises the result of a request, keys in the order of the type.
pub(crate) fn body(result: &impl Serialize) -> Box<RawValue> {
    to_raw_value(result).expect("results have string keys and no failing serialiser")
}

/// A response; without an id (`null`) where none could be read from the request.
#[derive(Debug, Serialize)]
pub(crate) struct Response {
    jsonrpc: &'static str,
    id: Option<RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorObject>,
}

impl Response {
    pub(crate) fn new(id: Option<RequestId>, reply: Reply) -> Self {
        let (result, error) = match reply {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self { jsonrpc: "2.0", id, result, error }
    }
}

/// A notification to the client.
#[derive(Debug, Serialize)]
pub(crate) struct OutgoingNotification<P> {
    jsonrpc: &'static str,
    method: &'static str,
    params: P,
}

impl<P: Serialize> OutgoingNotification<P> {
    pub(crate) fn new(method: &'static str, params: P) -> Self {
        Self { jsonrpc: "2.0", method, params }
    }
}
