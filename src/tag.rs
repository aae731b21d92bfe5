//! Who a container belongs to: its name, its owner and its expiry.
//!
//! The labels let any later das find what a dead one left behind, and nothing else.

use std::fmt;
use std::str::FromStr;
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

/// How many hexadecimal digits tell one container's name from every other.
const ID_DIGITS: usize = 16;

/// The name of a container that das made; safe as an argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContainerName(String);

/// A text that is no name, no owner or no container of das.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a tag of das")]
pub struct NotATag;

impl FromStr for ContainerName {
    type Err = NotATag;

    fn from_str(text: &str) -> Result<Self, NotATag> {
        let digits = text.strip_prefix("das-").ok_or(NotATag)?;
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (digits.len() == ID_DIGITS && digits.bytes().all(hex))
            .then(|| Self(text.to_owned()))
            .ok_or(NotATag)
    }
}

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
        id.truncate(ID_DIGITS);
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
        /// Which namespace the process id belongs to: a das in a container of its own shares the
        /// machine and perhaps the engine, but not the numbers of processes.
        namespace: u64,
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
            Self::Process { boot, namespace, pid, started } => {
                write!(f, "{boot}.{namespace}.{pid}.{started}")
            }
        }
    }
}

/// Reads a label, which anybody may have written.
impl FromStr for Owner {
    type Err = NotATag;

    fn from_str(text: &str) -> Result<Self, NotATag> {
        if text == "nobody" {
            return Ok(Self::Nobody);
        }
        let parts: Vec<&str> = text.split('.').collect();
        let [boot, namespace, pid, started] = parts[..] else { return Err(NotATag) };
        let owner = Self::Process {
            boot: boot.to_owned(),
            namespace: namespace.parse().map_err(|_| NotATag)?,
            pid: pid.parse().map_err(|_| NotATag)?,
            started: started.parse().map_err(|_| NotATag)?,
        };
        // Only what das itself would have written.
        let known = boot == UNKNOWN_BOOT || boot.bytes().all(|byte| byte.is_ascii_hexdigit());
        (known && !boot.is_empty() && owner.to_string() == text).then_some(owner).ok_or(NotATag)
    }
}

impl Owner {
    /// This process, as other processes of this machine can recognise it.
    pub fn this_process() -> Self {
        let pid = std::process::id();
        Self::Process {
            boot: boot_id(),
            namespace: pid_namespace(),
            pid,
            started: started(pid).unwrap_or(0),
        }
    }
}

/// The boot of a machine that does not name its boots.
pub(crate) const UNKNOWN_BOOT: &str = "unknown";

/// The number of this process's namespace of process ids; 0 where the system has none to tell.
fn pid_namespace() -> u64 {
    // It reads `pid:[4026531836]`.
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// The kernel's random name of this boot, in 12 digits.
fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    if digits.is_empty() { UNKNOWN_BOOT.to_owned() } else { digits }
}

/// The start time of a process in clock ticks since boot.
pub fn started(pid: u32) -> Option<u64> {
    // The state is field 3, the start field 22.
    stat(pid)?.get(19)?.parse().ok()
}

/// Whether a process has ended and is only waited for.
pub(crate) fn has_ended(pid: u32) -> bool {
    let state = stat(pid).and_then(|fields| fields.into_iter().next());
    state.is_some_and(|state| matches!(state.as_str(), "Z" | "X" | "x"))
}

/// The fields of `/proc/PID/stat` after the second.
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second is the program's name in brackets, and may itself hold brackets.
    let (_, after_name) = stat.rsplit_once(')')?;
    Some(after_name.split_whitespace().map(str::to_owned).collect())
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
        assert_eq!(Owner::this_process().to_string().parse(), Ok(Owner::this_process()));
    }

    #[test]
    fn a_label_is_an_owner_only_as_das_writes_it() {
        assert_eq!("nobody".parse(), Ok(Owner::Nobody));
        for text in ["1bff361e1d97.4026531836.1.0", "unknown.0.4294967295.18446744073709551615"] {
            assert_eq!(text.parse::<Owner>().map(|owner| owner.to_string()).as_deref(), Ok(text));
        }
        for text in [
            "",
            "Nobody",
            "...",
            "1bff.1.1",
            "1bff.1.1.1.1",
            ".1.1.1",
            "1bff.01.1.1",
            "1bff.1.+1.1",
            "1bff.1.-1.1",
            "1bff.1.4294967296.1",
            "xyz.1.1.1",
            "1bff.1.1.1\n",
            "--privileged.1.1.1",
        ] {
            assert_eq!(text.parse::<Owner>(), Err(NotATag), "{text:?}");
        }
    }

    #[test]
    fn a_container_of_das_is_known_by_its_name() {
        let name = RunTag::new(&Owner::Nobody, Duration::ZERO).container();
        assert_eq!(name.as_str().parse(), Ok(name.clone()));
        for text in ["", "das-", "das-0123", "das-0123456789ABCDEF", "xdas-0123456789abcdef"] {
            assert_eq!(text.parse::<ContainerName>(), Err(NotATag), "{text:?}");
        }
    }
}
