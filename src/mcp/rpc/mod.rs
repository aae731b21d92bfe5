//! JSON-RPC 2.0 as lines of JSON: what comes in is cut, parsed and sorted, what goes out becomes one line.
//! It does not know MCP.

mod id;
mod lines;
mod message;
mod outgoing;
mod reply;

pub(crate) use id::RequestId;
pub(crate) use lines::{Line, Lines, MAX_LINE_BYTES};
pub(crate) use message::{Incoming, Message, Notification, Params, Request, parse};
pub(crate) use outgoing::to_line;
pub(crate) use reply::{ErrorObject, OutgoingNotification, Reply, Response, body, code};
