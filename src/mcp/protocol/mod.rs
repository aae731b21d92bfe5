//! MCP's methods: which there are in which version, and what each is answered.
//!
//! Pure: it decides, the server acts. The only state is the version that the last `initialize`
//! agreed on; a request with a version in its `_meta` is served by that version, whatever
//! came before, for clients mix the two in one session.

mod era;
mod results;
#[cfg(test)]
mod tests;
mod version;

use std::sync::Arc;

use serde_json::{Map, Value, json};

pub(crate) use results::{call, subscription_acknowledged, subscription_ended};
pub(crate) use version::{Era, Version};

use super::rpc::{ErrorObject, Params, Reply, RequestId, body, code};
use super::text::quoted;
use super::tool::{Job, TOOL_NAME, Tool};

/// What is to be done about a request.
#[derive(Debug)]
pub(crate) enum Action {
    /// Answer it now.
    Reply(Reply),
    /// Run code and answer then.
    Run(Call),
    /// Keep it open until the client or the server ends.
    Subscribe,
}

/// A tool call that is to run.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) job: Job,
    pub(crate) version: Version,
    pub(crate) progress_token: Option<RequestId>,
}

/// Where a request stood on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It was the line.
    Alone,
    /// It was one of several.
    InBatch,
}

/// What das speaks with one client.
#[derive(Debug)]
pub(crate) struct Protocol {
    tool: Arc<Tool>,
    negotiated: Version,
}

impl Protocol {
    /// A client that never says `initialize` is served as if by the newest version that has it.
    pub(crate) fn new(tool: Arc<Tool>) -> Self {
        Self { tool, negotiated: Version::NEWEST_LEGACY }
    }

    /// Whether arrays of messages are served.
    pub(crate) fn has_batches(&self) -> bool {
        self.negotiated.has_batches()
    }

    /// Decides what to do about a request.
    pub(crate) fn decide(&mut self, method: &str, params: Params, place: Place) -> Action {
        self.route(method, params, place).unwrap_or_else(|error| Action::Reply(Err(error)))
    }

    fn route(&mut self, method: &str, params: Params, place: Place) -> Result<Action, ErrorObject> {
        let alone_only = method == "initialize" || era::is_modern(&params.members);
        if place == Place::InBatch && alone_only {
            let message = "this request cannot be part of a batch";
            return Err(ErrorObject::new(code::INVALID_REQUEST, message));
        }
        if method == "initialize" {
            return self.initialize(&params.members).map(|result| self::result(&result));
        }
        let version = era::version_of(&params.members, self.negotiated)?;
        match version.era() {
            Era::Legacy => self.legacy(method, params, version),
            Era::Modern => self.modern(method, params, version),
        }
    }

    /// Answered also where the request carries a modern `_meta`: some clients send it after
    /// `server/discover`.
    fn initialize(&mut self, params: &Map<String, Value>) -> Result<Value, ErrorObject> {
        let Some(asked) = params.get("protocolVersion").and_then(Value::as_str) else {
            return Err(if era::is_modern(params) {
                unknown_method("initialize")
            } else {
                invalid_params("`protocolVersion` must be a string")
            });
        };
        self.negotiated = Version::negotiated(asked);
        Ok(results::initialize(self.negotiated))
    }

    fn legacy(
        &self,
        method: &str,
        params: Params,
        version: Version,
    ) -> Result<Action, ErrorObject> {
        match method {
            "ping" => Ok(result(&json!({}))),
            "tools/list" => self.list_tools(&params.members, version),
            "tools/call" => self.call(params, version),
            // Undeclared, but clients ask all the same, and some drop the server on an error.
            "resources/list" => empty_list(&params.members, "resources"),
            "resources/templates/list" => empty_list(&params.members, "resourceTemplates"),
            "prompts/list" => empty_list(&params.members, "prompts"),
            "server/discover" | "subscriptions/listen" => Err(era::modern_only(method)),
            _ => Err(unknown_method(method)),
        }
    }

    fn modern(
        &self,
        method: &str,
        params: Params,
        version: Version,
    ) -> Result<Action, ErrorObject> {
        match method {
            "server/discover" => Ok(result(&results::discover(version))),
            "tools/list" => self.list_tools(&params.members, version),
            "tools/call" => self.call(params, version),
            "subscriptions/listen" => Ok(Action::Subscribe),
            _ => Err(unknown_method(method)),
        }
    }

    fn list_tools(
        &self,
        params: &Map<String, Value>,
        version: Version,
    ) -> Result<Action, ErrorObject> {
        check_cursor(params)?;
        Ok(result(&results::tools(version, &self.tool)))
    }

    fn call(&self, params: Params, version: Version) -> Result<Action, ErrorObject> {
        let Params { mut members, progress_token } = params;
        match members.get("name").and_then(Value::as_str) {
            Some(TOOL_NAME) => {}
            Some(other) => return Err(unknown_tool(other)),
            None => return Err(invalid_params("`name` must be a string: the tool to call")),
        }
        let arguments = match members.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                return Err(invalid_params("`arguments` must be an object"));
            }
        };
        Ok(match self.tool.prepare(arguments) {
            Ok(job) => Action::Run(Call { job, version, progress_token }),
            Err(refusal) => Action::Reply(Ok(call(version, &refusal))),
        })
    }
}

fn result(value: &Value) -> Action {
    Action::Reply(Ok(body(value)))
}

fn empty_list(params: &Map<String, Value>, key: &str) -> Result<Action, ErrorObject> {
    check_cursor(params)?;
    Ok(result(&json!({key: []})))
}

/// Every list fits one page, so no cursor was ever handed out.
fn check_cursor(params: &Map<String, Value>) -> Result<(), ErrorObject> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(cursor)) if cursor.is_empty() => Ok(()),
        Some(_) => Err(invalid_params("unknown `cursor`: the list has one page")),
    }
}

fn unknown_method(method: &str) -> ErrorObject {
    let method = quoted(method);
    ErrorObject::new(code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
        .with_data(json!({"method": method}))
}

fn unknown_tool(name: &str) -> ErrorObject {
    let message = format!("Unknown tool: {}. Available: {TOOL_NAME}", quoted(name));
    ErrorObject::new(code::INVALID_PARAMS, message)
}

fn invalid_params(message: &str) -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, message)
}
