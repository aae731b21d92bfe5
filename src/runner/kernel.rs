//! What the kernel of this machine says of its OOM killer, for what an engine may miss.
//!
//! An engine hears of it from a control group that goes with its last process, and so sometimes
//! not at all: on a busy machine one in thirty of such ends was measured to lack its event.
//! Nothing here knows anything of an engine on another machine.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;

/// The kernel's log has one message for each read, and none is longer.
const LONGEST_MESSAGE: usize = 8192;

/// How many messages are looked at: more than the kernel keeps.
const MOST_MESSAGES: usize = 100_000;

/// How often the kernel has killed a process for want of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OomKills(Option<u64>);

impl OomKills {
    /// Those so far.
    pub(super) fn so_far() -> Self {
        Self(fs::read_to_string("/proc/vmstat").ok().and_then(|text| parse(&text)))
    }

    /// Whether one since then was of this container. Who may not read the kernel's log takes one
    /// of any container for it.
    pub(super) fn struck_since(self, container: Option<u64>) -> bool {
        self.more_since() && container.is_none_or(|id| log_tells_of(id).unwrap_or(true))
    }

    fn more_since(self) -> bool {
        matches!((self.0, Self::so_far().0), (Some(before), Some(now)) if now > before)
    }
}

fn parse(vmstat: &str) -> Option<u64> {
    vmstat.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// Whether the kernel's log tells of an OOM kill in the container whose id begins so.
fn log_tells_of(container: u64) -> io::Result<bool> {
    let mut log = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open("/dev/kmsg")?;
    let id = format!("{container:016x}");
    for _ in 0..MOST_MESSAGES {
        match next_message(&mut log)? {
            Some(message) if message.contains("oom-kill:") && message.contains(&id) => {
                return Ok(true);
            }
            Some(_) => {}
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// The next message; none at the end of the log.
fn next_message(log: &mut File) -> io::Result<Option<String>> {
    let mut buffer = [0; LONGEST_MESSAGE];
    loop {
        match log.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(length) => return Ok(Some(String::from_utf8_lossy(&buffer[..length]).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            // The kernel has dropped old messages meanwhile; the next read goes on after them.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_count_is_read() {
        assert_eq!(parse("pgfault 7\noom_kill 112\nnumad 1\n"), Some(112));
        assert_eq!(parse("pgfault 7\n"), None);
        assert_eq!(parse("oom_kill many\n"), None);
    }

    #[test]
    fn nothing_is_more_than_an_unknown_count() {
        assert!(!OomKills(None).struck_since(None));
        assert!(!OomKills(Some(u64::MAX)).struck_since(None));
    }
}
