//! Reads the client's lines and acts on each at once: it never waits for a run, nor for the
//! client to read.

use std::io::{BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::batch::{Batch, ReplyTo};
use super::calls::Entered;
use super::progress::Watch;
use super::{End, Event, Shared, internal_error, worker};
use crate::mcp::protocol::{Action, Call, Place, Protocol};
use crate::mcp::rpc::{
    ErrorObject, Incoming, Line, Lines, MAX_LINE_BYTES, Message, Notification, Request, RequestId,
    Response, code, parse,
};

/// One client's side of the conversation.
#[derive(Debug)]
pub(super) struct Reader {
    protocol: Protocol,
    shared: Arc<Shared>,
    expecting: bool,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { protocol: Protocol::new(Arc::clone(&shared.tool)), shared, expecting: false }
    }

    /// Reads to the end of the input and says that it came.
    pub(super) fn run(mut self, input: impl Read) {
        let mut end = End::InputEnded;
        for line in Lines::new(BufReader::new(input), MAX_LINE_BYTES) {
            match line {
                Ok(Line::Message(line)) => self.line(&line),
                Ok(Line::TooLong) => {
                    let why = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                    self.refuse(why);
                }
                Err(error) => {
                    end = End::InputFailed(error);
                    break;
                }
            }
        }
        self.shared.tell(Event::End(end));
    }

    fn line(&mut self, line: &[u8]) {
        match parse(line) {
            Incoming::One(message) => {
                let reply_to = ReplyTo::Line(self.shared.outbox.clone());
                self.message(message, Place::Alone, &reply_to);
            }
            Incoming::Batch(messages) if self.protocol.has_batches() => {
                let reply_to = ReplyTo::Batch(Batch::new(self.shared.outbox.clone()));
                for message in messages {
                    self.message(message, Place::InBatch, &reply_to);
                }
            }
            Incoming::Batch(_) => {
                self.refuse("this version of the protocol has no batches: send one message a line");
            }
        }
    }

    fn refuse(&self, why: impl Into<String>) {
        let error = ErrorObject::new(code::INVALID_REQUEST, why);
        self.shared.outbox.send(&Response::new(None, Err(error)));
    }

    fn message(&mut self, message: Message, place: Place, reply_to: &ReplyTo) {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                guarded(id, reply_to, || self.request(request, place, reply_to));
            }
            Message::Notification(notification) => self.notification(&notification),
            Message::Response => {}
            Message::Refused(response) => reply_to.deliver(&response),
        }
    }

    fn notification(&mut self, notification: &Notification) {
        match (notification.method.as_str(), &notification.request_id) {
            ("notifications/cancelled", Some(id)) => self.shared.calls.cancel(id),
            ("notifications/initialized", _) => self.expect_calls(),
            // Others ask for nothing.
            _ => {}
        }
    }

    /// A client that only wanted to know which versions there are is none to be ready for.
    fn expect_calls(&mut self) {
        if !std::mem::replace(&mut self.expecting, true) {
            self.shared.tool.code().expect_calls();
        }
    }

    fn request(&mut self, request: Request, place: Place, reply_to: &ReplyTo) {
        let Request { id, method, params } = request;
        let reply = if self.shared.calls.is_open(&id) {
            Err(ErrorObject::new(code::INVALID_REQUEST, "id already in use"))
        } else {
            // Where there is no handshake, this is how a client begins.
            if method == "tools/list" {
                self.expect_calls();
            }
            match self.protocol.decide(&method, params, place) {
                Action::Reply(reply) => reply,
                Action::Run(call) => return self.call(id, call, reply_to),
                Action::Subscribe => {
                    match self.shared.calls.subscribe(id.clone(), reply_to.clone()) {
                        Ok(()) => return,
                        Err(error) => Err(error),
                    }
                }
            }
        };
        reply_to.deliver(&Response::new(Some(id), reply));
    }

    fn call(&self, id: RequestId, call: Call, reply_to: &ReplyTo) {
        let watch = Watch::of(&call);
        let (ticket, entered) = self.shared.calls.enter(id.clone(), call, reply_to.clone());
        match entered {
            Entered::Refused(error) => {
                return reply_to.deliver(&Response::new(Some(id), Err(error)));
            }
            Entered::Started(started) => worker::start(&self.shared, *started),
            Entered::Waiting => {}
        }
        if let Some(watch) = watch {
            self.shared.tell(Event::Watch(ticket, watch));
        }
    }
}

/// Answers a request whose handling panics, so that the next ones are served.
fn guarded(id: RequestId, reply_to: &ReplyTo, handle: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(handle)).is_err() {
        reply_to.deliver(&Response::new(Some(id), Err(internal_error())));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::super::outbox::outbox;
    use super::*;

    #[test]
    fn a_panic_while_a_request_is_read_is_answered() {
        let (events, _received) = channel();
        let mut output = Vec::new();
        let (outbox, writer) = outbox(&mut output, events, 1000);
        let id = RequestId::parse(serde_json::from_str("7").unwrap()).unwrap();
        guarded(id, &ReplyTo::Line(outbox.clone()), || panic!("a bug"));
        outbox.close();
        writer.run().unwrap();
        assert_eq!(
            String::from_utf8(output).unwrap(),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":\"internal error\"}}\n"
        );
    }
}
