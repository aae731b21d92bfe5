//! A terminal: a person at one side, a program at the other.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

/// Both sides of a terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    person: OwnedFd,
    program: OwnedFd,
}

impl Terminal {
    pub(super) fn new() -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let person = openpt(flags).expect("a terminal");
        grantpt(&person).expect("a terminal of one's own");
        unlockpt(&person).expect("a terminal of one's own");
        let program = ioctl_tiocgptpeer(&person, flags).expect("its other side");
        Self { person, program }
    }

    pub(super) fn program_side(&self) -> Stdio {
        self.program.try_clone().expect("a descriptor").into()
    }

    pub(super) fn keyboard(&self) -> File {
        self.person.try_clone().expect("a descriptor").into()
    }

    /// What is read here ends when the last program has closed its side.
    pub(super) fn screen(self) -> File {
        drop(self.program);
        self.person.into()
    }
}
