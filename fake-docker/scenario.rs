//! What the stand-in is asked to play: plain data, read from `scenario.json`.
//! The tests build the same types, so the two sides cannot drift apart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything the stand-in does for one test. Commands that have a list use its
/// n-th entry for the n-th call; the last entry serves all later calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Scenario {
    pub(crate) daemon: Daemon,
    /// How far the daemon's clock is ahead of the client's, in seconds; negative if it is behind.
    pub(crate) clock_ahead_seconds: i64,
    /// The first rule that matches and is not used up plays the run.
    pub(crate) run: Vec<Run>,
    pub(crate) kill: Vec<Stop>,
    pub(crate) rm: Vec<Stop>,
    pub(crate) events: Vec<Events>,
    pub(crate) ps: Vec<Listing>,
    pub(crate) images: Images,
    pub(crate) pull: Vec<Pull>,
    pub(crate) import: Vec<Load>,
    pub(crate) build: Vec<Load>,
    pub(crate) version: Facts,
    pub(crate) info: Facts,
}

/// The state of the daemon, for every command that would ask it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Daemon {
    #[default]
    Up,
    Down,
    /// Accepts every request and answers none.
    Hangs,
    /// The user may not open the socket.
    Denied,
    /// The CLI does not get as far as the daemon: its context does not exist.
    BadContext,
}

/// How one `docker run` goes, from the request to the end of the program.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Run {
    /// The rule is for command lines that hold each of these arguments.
    pub(crate) when: Vec<String>,
    /// The rule serves so many runs; without it, any number.
    pub(crate) times: Option<u32>,
    /// The daemon refuses to create the container.
    pub(crate) refuse: Option<Refusal>,
    pub(crate) create: Create,
    /// Lines that the CLI prints on stderr before the program starts.
    pub(crate) warnings: Vec<String>,
    pub(crate) start: Start,
    /// What the program does; after the last step it exits with 0.
    pub(crate) steps: Vec<Step>,
}

/// Why no container is created.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    /// The name is taken by a container that nobody can see.
    Conflict,
    Answers(Answer),
}

/// When the container comes into being.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Create {
    #[default]
    AtOnce,
    /// The daemon is late and goes on without the client: the container appears even
    /// though the client has been killed meanwhile.
    Late { after: Trigger, orphan: Orphan },
}

/// How far the daemon takes a container whose client is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Orphan {
    Created,
    Running,
}

/// What becomes of the request to start the program.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Start {
    #[default]
    Works,
    /// The request is never answered: the container stays `Created`.
    Never,
    After(Trigger),
    /// The interpreter is not in the image.
    InterpreterMissing,
    /// The interpreter is there and cannot be executed.
    NotExecutable,
    /// The runtime fails; the text is what follows `OCI runtime create failed: `.
    OciError(String),
}

/// Something to wait for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trigger {
    Millis(u64),
    /// A file of this name in the state directory.
    File(String),
}

/// One thing that the program, its client or its daemon does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    Stdout(Bytes),
    Stderr(Bytes),
    Trickle(Trickle),
    Flood(Flood),
    /// Waits for the end of stdin. A program without this step never reads it.
    ReadStdin,
    /// Prints what stdin has brought so far.
    EchoStdin(Stream),
    /// Reads stdin to its end and goes on with the first branch that matches.
    ByStdin(Vec<Branch>),
    Wait(Trigger),
    WaitUntilKilled,
    /// Creates a file of this name in the state directory.
    Mark(String),
    Oom(Victim),
    Exit(u8),
    /// The program dies of this signal.
    DieBySignal(u8),
    /// A process that keeps the client's stdout and stderr open until this file appears.
    Grandchild {
        until: String,
    },
    /// The client is killed (SIGKILL); the container goes on.
    ClientDies,
    /// The client gives up with this answer; the container goes on.
    ClientExits(Answer),
    /// The daemon changes its state, for this call and all later ones.
    Daemon(Daemon),
}

/// Output a byte at a time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trickle {
    pub(crate) stream: Stream,
    pub(crate) bytes: Bytes,
    pub(crate) gap_millis: u64,
    pub(crate) rounds: Amount,
}

/// Output as fast as the pipe takes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flood {
    /// Each stream has its own writer.
    pub(crate) streams: Vec<Stream>,
    pub(crate) bytes: Amount,
}

/// How much, where for ever is an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Amount {
    Only(u64),
    Forever,
}

/// One of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// What a program does that got this text on stdin.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Branch {
    pub(crate) contains: String,
    pub(crate) steps: Vec<Step>,
}

/// Whom the kernel's OOM killer strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Victim {
    Program,
    Child,
}

/// Bytes: text where they are text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Bytes {
    Text(String),
    Raw(Vec<u8>),
}

/// A fixed answer of the CLI.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Answer {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: u8,
}

/// What `kill` or `rm` does.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stop {
    #[default]
    Works,
    /// Works, late.
    After(Trigger),
    /// Says that it worked; the program goes on.
    Ignored,
    Hangs,
    /// Works when the client's output has been drained or the client has died.
    BlocksUntilDrained,
    Answers(Answer),
}

/// What `events` tells.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Events {
    #[default]
    Normal,
    /// The daemon remembers nothing.
    Empty,
    /// The daemon remembers all but these actions.
    Without(Vec<String>),
    Garbage,
    Hangs,
    Answers(Answer),
}

/// What `ps` tells.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Listing {
    #[default]
    Normal,
    Garbage,
    Hangs,
    Answers(Answer),
}

/// The image store.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Images {
    /// Holds for every reference that is not in `named` and was not loaded by a command.
    pub(crate) others: Presence,
    pub(crate) named: BTreeMap<String, Image>,
}

/// Whether an image is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Presence {
    #[default]
    Present,
    Missing,
}

/// One image.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Image {
    pub(crate) presence: Presence,
    /// Merged into what `image inspect` tells (RFC 7396).
    pub(crate) patch: Value,
}

/// What `pull` does.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pull {
    #[default]
    Works,
    After(Trigger),
    Hangs,
    Fails(PullFailure),
    Answers(Answer),
}

/// Why the daemon cannot pull an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PullFailure {
    NoSuchHost,
    ConnectionRefused,
    Denied,
    NotFound,
}

/// What `import` and `build` do.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Load {
    #[default]
    Works,
    Hangs,
    /// Reads all of stdin, then gives this answer.
    Answers(Answer),
    /// Gives this answer without reading stdin.
    AnswersUnread(Answer),
}

/// What `version` and `info` tell.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Facts {
    /// Merged into the real CLI's answer (RFC 7396).
    pub(crate) patch: Value,
    pub(crate) answers: Option<Answer>,
}
