//! The way out: anyone may put a line in, one thread alone writes them.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde::Serialize;

use super::{End, Event};
use crate::mcp::rpc::to_line;

/// How much may wait for a client that does not read, in bytes. Beyond it the client is
/// taken for gone: the alternatives are to hold ever more, or to stop reading its cancellations.
pub(super) const MOST_UNSENT: usize = 64 * 1024 * 1024;

#[derive(Debug)]
enum Out {
    Line(Vec<u8>),
    Close,
}

/// Puts lines in the queue of the writer; never blocks.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    queue: Sender<Out>,
    unsent: Arc<AtomicUsize>,
    most_unsent: usize,
    events: Sender<Event>,
}

/// Takes lines from the queue and owns the output.
#[derive(Debug)]
pub(super) struct Writer<W> {
    output: W,
    queue: Receiver<Out>,
    unsent: Arc<AtomicUsize>,
}

/// The two ends of the queue. When more than `most_unsent` bytes wait in it, the server ends.
pub(super) fn outbox<W: Write>(
    output: W,
    events: Sender<Event>,
    most_unsent: usize,
) -> (Outbox, Writer<W>) {
    let (sender, receiver) = channel();
    let unsent = Arc::new(AtomicUsize::new(0));
    let outbox = Outbox { queue: sender, unsent: Arc::clone(&unsent), most_unsent, events };
    (outbox, Writer { output, queue: receiver, unsent })
}

impl Outbox {
    /// Sends a message as one line.
    pub(super) fn send(&self, message: &impl Serialize) {
        let line = to_line(message);
        let size = line.len();
        if self.unsent.fetch_add(size, Ordering::Relaxed) + size > self.most_unsent {
            self.tell(Event::End(End::OutputStuck));
        }
        self.put(Out::Line(line));
    }

    /// Lets the writer end once all lines before this are written.
    pub(super) fn close(&self) {
        self.put(Out::Close);
    }

    /// A writer that is gone has said why, and nothing more can be sent.
    fn put(&self, out: Out) {
        self.queue.send(out).ok();
    }

    /// A server that is gone needs no telling.
    fn tell(&self, event: Event) {
        self.events.send(event).ok();
    }
}

impl<W: Write> Writer<W> {
    /// Writes until the queue is closed or the output fails.
    pub(super) fn run(mut self) -> io::Result<()> {
        while let Ok(Out::Line(line)) = self.queue.recv() {
            self.output.write_all(&line)?;
            self.output.flush()?;
            self.unsent.fetch_sub(line.len(), Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_whole_and_in_order_until_the_queue_is_closed() {
        let mut output = Vec::new();
        let (outbox, writer) = outbox(&mut output, channel().0, 100);
        outbox.send(&1);
        outbox.send(&"two");
        outbox.close();
        outbox.send(&3);
        writer.run().unwrap();
        assert_eq!(output, b"1\n\"two\"\n");
    }

    #[test]
    fn a_client_that_does_not_read_ends_the_server_before_memory_does() {
        let (events, received) = channel();
        let (outbox, _writer) = outbox(io::sink(), events, 10);
        outbox.send(&"1234");
        assert!(received.try_recv().is_err());
        outbox.send(&"1234");
        assert!(matches!(received.try_recv(), Ok(Event::End(End::OutputStuck))));
    }

    #[test]
    fn what_was_written_no_longer_counts_as_unsent() {
        let (events, received) = channel();
        let (outbox, writer) = outbox(io::sink(), events, 10);
        outbox.send(&"1234");
        outbox.close();
        writer.run().unwrap();
        outbox.send(&"1234");
        assert!(received.try_recv().is_err());
    }
}
