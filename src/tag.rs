//! Who a container belongs to: its name, its owner and its expiry.
//!
//! The labels let any later das find what a dead one left behind, and nothing else.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// The label that every container of das carries.
pub const LABEL: &str = "docker-agent-sandbox";

/// The label that names the process whose container it is.
pub const OWNER_LABEL: &str = "docker-agent-sandbox.owner";

/// The label that says until when it may live, in seconds of Unix time.
pub const EXPIRES_LABEL: &str = "docker-agent-sandbox.expires";

/// How long a container may outlive its deadline before anybody may remove it.
const GRACE: Duration = Duration::from_mins(1);

/// The name of a container that das made; safe as an argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContainerName(String);

impl ContainerName {
    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContainerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What tells one run from every other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTag {
    id: String,
    owner: String,
    expires: u64,
}

impl RunTag {
    /// A new tag for a run of this process that may take `timeout`.
    pub fn new(owner: &Owner, timeout: Duration) -> Self {
        // 64 random bits: names of concurrent runs do not meet, and cannot be guessed.
        let mut id = Uuid::new_v4().simple().to_string();
        id.truncate(16);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { id, owner: owner.to_string(), expires: (now + timeout + GRACE).as_secs() }
    }

    /// The tag of a run that was made before, to ask the engine about it.
    pub(crate) fn known(owner: &Owner, id: &str) -> Self {
        Self { id: id.to_owned(), owner: owner.to_string(), expires: 0 }
    }

    /// The random part of the container's name, 16 hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The container's name.
    pub fn container(&self) -> ContainerName {
        ContainerName(format!("das-{}", self.id))
    }

    /// Whose run it is.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The second of Unix time after which the container is nobody's any more.
    pub fn expires(&self) -> u64 {
        self.expires
    }
}

/// The process that a container belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// Nobody: the command line is only shown.
    Nobody,
    /// A process of this machine.
    Process {
        /// Which machine, and which of its boots.
        boot: String,
        /// Which process.
        pid: u32,
        /// When it started, in the system's own unit: process ids are reused.
        started: u64,
    },
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("nobody"),
            Self::Process { boot, pid, started } => write!(f, "{boot}.{pid}.{started}"),
        }
    }
}

impl Owner {
    /// This process, as other processes of this machine can recognise it.
    pub fn this_process() -> Self {
        let pid = std::process::id();
        Self::Process { boot: boot_id(), pid, started: started(pid).unwrap_or(0) }
    }
}

/// The kernel's random name of this boot, in 12 digits; `unknown` where there is none.
fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    if digits.is_empty() { "unknown".to_owned() } else { digits }
}

/// The start time of a process in clock ticks since boot: field 22 of `/proc/PID/stat`.
pub fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets, and may itself hold brackets.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_a_name_that_no_other_run_has() {
        let tags: std::collections::HashSet<String> = (0..1000)
            .map(|_| RunTag::new(&Owner::Nobody, Duration::ZERO).container().to_string())
            .collect();
        assert_eq!(tags.len(), 1000);
        assert!(tags.iter().all(|name| name.len() == 20 && name.starts_with("das-")));
    }

    #[test]
    fn the_expiry_lies_after_the_deadline() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let tag = RunTag::new(&Owner::Nobody, Duration::from_secs(10));
        assert!(tag.expires() >= now + 10 + GRACE.as_secs());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_its_own_owner_for_as_long_as_it_lives() {
        let Owner::Process { pid, started: at, .. } = Owner::this_process() else { panic!() };
        assert_eq!(started(pid), Some(at));
        assert_eq!(Owner::this_process(), Owner::this_process());
    }
}
