//! The client's stdout and stderr, written without a buffer and with a tap: once it is closed,
//! no further byte goes out, and one can see when the last one has been read.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rustix::io::ioctl_fionread;

use crate::scenario::Stream;

/// Both streams.
#[derive(Debug)]
pub(crate) struct Sink {
    stdout: File,
    stderr: File,
    closed: AtomicBool,
    writing: AtomicUsize,
}

impl Sink {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            stdout: File::from(io::stdout().as_fd().try_clone_to_owned()?),
            stderr: File::from(io::stderr().as_fd().try_clone_to_owned()?),
            closed: AtomicBool::new(false),
            writing: AtomicUsize::new(0),
        })
    }

    pub(crate) fn write(&self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        // Announced before the tap is read: `is_drained` closes it before it looks for writers.
        self.writing.fetch_add(1, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) {
            self.writing.fetch_sub(1, Ordering::SeqCst);
            loop {
                thread::park();
            }
        }
        let mut file = self.file(stream);
        let written = file.write_all(bytes);
        self.writing.fetch_sub(1, Ordering::SeqCst);
        written
    }

    /// Closes the tap; `true` once all that was written before has been read.
    pub(crate) fn is_drained(&self) -> bool {
        self.closed.store(true, Ordering::SeqCst);
        self.writing.load(Ordering::SeqCst) == 0
            && [&self.stdout, &self.stderr].into_iter().all(is_empty)
    }

    fn file(&self, stream: Stream) -> &File {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }
}

/// What is no pipe holds nothing back.
fn is_empty(pipe: &File) -> bool {
    ioctl_fionread(pipe).map_or(true, |bytes| bytes == 0)
}
