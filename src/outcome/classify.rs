//! Decides what happened, in one place, from what das did and what the engine's record says.
//!
//! Exit codes 125 to 137 are the program's as much as Docker's, and a program can print whatever
//! Docker prints. So neither decides alone: the record tells whether the program ran.

use super::Verdict;
use super::failure::Failure;
use crate::engine::record::Record;

/// The interpreter was not found in the image.
const NOT_FOUND: i32 = 127;

/// The interpreter cannot be executed.
const NOT_EXECUTABLE: i32 = 126;

/// SIGKILL's exit code: the OOM killer's, and that of `docker kill`.
pub(crate) const KILLED: i32 = 137;

/// Exit codes that the engine's client gives for failures of its own.
pub(crate) const CLIENT_CODES: [i32; 4] = [1, 125, NOT_EXECUTABLE, NOT_FOUND];

/// Why das ended a run before its program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// The deadline passed.
    Deadline,
    /// das got this signal.
    Signal(i32),
    /// Nobody reads the output any more.
    OutputClosed,
    /// The caller does not want the answer any more.
    Caller,
}

/// How the engine's client ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEnd {
    /// By itself, with this code.
    Exited(i32),
    /// Somebody killed it, or das had to.
    Lost,
}

/// What das did to end the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// Nothing.
    No,
    /// It had a cause, but the program ended by itself before any kill was delivered.
    TooLate(StopCause),
    /// It had a cause, and the engine delivered the kill.
    Killed(StopCause),
    /// It had a cause, and the engine never confirmed a kill.
    Unconfirmed(StopCause),
}

/// What is known of the run when its client has ended.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// How the client ended.
    pub client: ClientEnd,
    /// What das did.
    pub stopping: Stopping,
    /// The engine's record; not asked for where it cannot matter.
    pub record: RecordEvidence,
    /// What the engine said before it started the program, or instead.
    pub engine_words: &'a str,
    /// The program that the container was to execute.
    pub interpreter: &'a str,
}

/// The engine's record, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordEvidence {
    /// It was not asked for: the client ended with 0, or das killed the program.
    NotNeeded,
    /// The engine's answer.
    Known(Record),
    /// The engine did not answer.
    Unavailable,
}

impl RecordEvidence {
    /// Whether the program may have run, as far as is known.
    pub fn may_have_run(&self) -> bool {
        match self {
            Self::Known(record) => record.ran(),
            Self::NotNeeded | Self::Unavailable => true,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The program ended with this code.
    Exited {
        /// Its exit code.
        code: i32,
        /// The OOM killer ended one of its processes, but not the program itself.
        oom_in_child: bool,
    },
    /// das killed it at its deadline.
    TimedOut,
    /// The OOM killer ended it.
    OutOfMemory,
    /// Its interpreter could not be started: 126 or 127.
    CannotStart(i32),
    /// It was cancelled.
    Cancelled(StopCause),
    /// Something else than the program failed.
    Failed(Failure),
}

impl Ending {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Exited { code: 0, .. } => Verdict::Success,
            Self::Exited { .. } => Verdict::Error,
            Self::TimedOut => Verdict::Timeout,
            Self::OutOfMemory => Verdict::OutOfMemory,
            Self::CannotStart(_) => Verdict::CannotStart,
            Self::Cancelled(_) => Verdict::Cancelled,
            Self::Failed(_) => Verdict::SandboxError,
        }
    }

    /// The program's exit code, where it has one.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited { code, .. } | Self::CannotStart(code) => Some(*code),
            Self::OutOfMemory => Some(KILLED),
            Self::TimedOut | Self::Cancelled(_) | Self::Failed(_) => None,
        }
    }

    /// The signal that cancelled the run, if one did. A closed output is what SIGPIPE tells.
    pub fn signal(&self) -> Option<i32> {
        match self {
            Self::Cancelled(StopCause::Signal(signal)) => Some(*signal),
            Self::Cancelled(StopCause::OutputClosed) => Some(signal_hook::consts::SIGPIPE),
            Self::Cancelled(StopCause::Deadline | StopCause::Caller)
            | Self::Exited { .. }
            | Self::TimedOut
            | Self::OutOfMemory
            | Self::CannotStart(_)
            | Self::Failed(_) => None,
        }
    }
}

/// Decides what happened.
pub fn classify(evidence: &Evidence<'_>) -> Ending {
    match evidence.stopping {
        Stopping::Killed(StopCause::Deadline) | Stopping::Unconfirmed(StopCause::Deadline)
            if !evidence.record.may_have_run() =>
        {
            Ending::Failed(Failure::StartTooSlow)
        }
        Stopping::No | Stopping::TooLate(StopCause::Deadline) => by_itself(evidence),
        Stopping::Killed(StopCause::Deadline) => match evidence.client {
            // It ended between the deadline and the kill: nothing of it was cut off.
            ClientEnd::Exited(code) if code != KILLED => by_itself(evidence),
            ClientEnd::Exited(_) | ClientEnd::Lost => Ending::TimedOut,
        },
        Stopping::Unconfirmed(StopCause::Deadline) => Ending::Failed(Failure::StopUnconfirmed),
        Stopping::TooLate(cause) | Stopping::Killed(cause) | Stopping::Unconfirmed(cause) => {
            Ending::Cancelled(cause)
        }
    }
}

fn by_itself(evidence: &Evidence<'_>) -> Ending {
    match (&evidence.record, evidence.client) {
        (RecordEvidence::Known(record), client) => from_record(*record, client, evidence),
        (RecordEvidence::NotNeeded | RecordEvidence::Unavailable, ClientEnd::Exited(code))
            if code != KILLED && !CLIENT_CODES.contains(&code) =>
        {
            Ending::Exited { code, oom_in_child: false }
        }
        // The engine is not there to be asked, and what the client printed cannot be the
        // program's only if the engine was never reached.
        (RecordEvidence::NotNeeded | RecordEvidence::Unavailable, _) => {
            Ending::Failed(Failure::of_unreachable_engine(evidence.engine_words))
        }
    }
}

fn from_record(record: Record, client: ClientEnd, evidence: &Evidence<'_>) -> Ending {
    match (record.died, client) {
        (Some(KILLED), _) if record.oom => Ending::OutOfMemory,
        (Some(code), ClientEnd::Exited(told)) if told == code => {
            Ending::Exited { code, oom_in_child: record.oom }
        }
        // A client that does not give the program's code has not seen the program's end.
        (Some(_), _) => Ending::Failed(Failure::OutputLost),
        (None, ClientEnd::Lost) => Ending::Failed(Failure::EndUnknown),
        // A busy engine forgets: then a code that no client gives is the program's.
        (None, ClientEnd::Exited(code)) if code != KILLED && !CLIENT_CODES.contains(&code) => {
            Ending::Exited { code, oom_in_child: record.oom }
        }
        (None, ClientEnd::Exited(_)) if record.ran() => Ending::Failed(Failure::EndUnknown),
        (None, ClientEnd::Exited(code)) => never_ran(code, evidence),
    }
}

/// The program never ran, so all of stderr is the engine's own words and may be read.
fn never_ran(code: i32, evidence: &Evidence<'_>) -> Ending {
    if evidence.engine_words.trim().is_empty() {
        // Then the record is not to be believed: an engine says why it starts nothing.
        return Ending::Failed(Failure::EndUnknown);
    }
    if exec_failed(evidence) && matches!(code, NOT_FOUND | NOT_EXECUTABLE) {
        return Ending::CannotStart(code);
    }
    Ending::Failed(Failure::of_engine(evidence.engine_words))
}

/// The runtime names the program that it could not execute. A runtime that is broken itself gives
/// the same exit codes, but names something else.
fn exec_failed(evidence: &Evidence<'_>) -> bool {
    let named = [
        format!("exec: \"{}\"", evidence.interpreter),
        format!("executable file `{}` not found", evidence.interpreter),
        format!("exec {}", evidence.interpreter),
    ];
    named.iter().any(|name| evidence.engine_words.contains(name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAN: Record = Record {
        id: None,
        created: Some(1),
        started: Some(2),
        oom: false,
        died: None,
        died_at: None,
        destroyed: false,
    };

    fn evidence(client: ClientEnd, record: Record) -> Evidence<'static> {
        Evidence {
            client,
            stopping: Stopping::No,
            record: RecordEvidence::Known(record),
            engine_words: "",
            interpreter: "python",
        }
    }

    fn died(code: i32) -> Record {
        Record { died: Some(code), ..RAN }
    }

    #[test]
    fn every_exit_code_of_a_program_that_ran_is_its_own() {
        for code in 1..=255 {
            let ending = classify(&evidence(ClientEnd::Exited(code), died(code)));
            assert_eq!(ending, Ending::Exited { code, oom_in_child: false });
        }
    }

    #[test]
    fn a_program_that_prints_what_docker_prints_is_still_judged_by_the_record() {
        let engine_words = "docker: Error response from daemon: No such image: x\nOCI runtime create failed: exec: \"python\"";
        for code in CLIENT_CODES {
            let ending = classify(&Evidence {
                engine_words,
                ..evidence(ClientEnd::Exited(code), died(code))
            });
            assert_eq!(ending.verdict(), Verdict::Error);
        }
    }

    #[test]
    fn the_oom_killer_is_blamed_only_for_the_program_itself() {
        let oom = |code| Record { oom: true, ..died(code) };
        let ending = |code| classify(&evidence(ClientEnd::Exited(code), oom(code)));
        assert_eq!(ending(137), Ending::OutOfMemory);
        assert_eq!(ending(119), Ending::Exited { code: 119, oom_in_child: true });
        let killed_itself = classify(&evidence(ClientEnd::Exited(137), died(137)));
        assert_eq!(killed_itself, Ending::Exited { code: 137, oom_in_child: false });
    }

    #[test]
    fn a_missing_interpreter_is_told_from_a_broken_runtime() {
        let create = "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: ";
        let created = Record { created: Some(1), ..Record::default() };
        for (code, text, verdict) in [
            (127, "exec: \"python\": executable file not found in $PATH", Verdict::CannotStart),
            (126, "exec: \"python\": permission denied", Verdict::CannotStart),
            (127, "runc did not terminate successfully", Verdict::SandboxError),
            (126, "crun: open /proc/sys: permission denied", Verdict::SandboxError),
            (125, "exec: \"python\"", Verdict::SandboxError),
        ] {
            let words = format!("{create}{text}");
            let ending = classify(&Evidence {
                engine_words: &words,
                ..evidence(ClientEnd::Exited(code), created)
            });
            assert_eq!(ending.verdict(), verdict, "{code} {text}");
        }
    }

    #[test]
    fn the_deadline_is_a_timeout_only_where_the_kill_was_what_ended_the_program() {
        let stopped =
            |stopping, client, record| classify(&Evidence { stopping, ..evidence(client, record) });
        let killed = Stopping::Killed(StopCause::Deadline);
        assert_eq!(stopped(killed, ClientEnd::Exited(137), died(137)), Ending::TimedOut);
        assert_eq!(stopped(killed, ClientEnd::Lost, RAN), Ending::TimedOut);
        assert_eq!(stopped(killed, ClientEnd::Exited(0), died(0)).verdict(), Verdict::Success);
        let late = Stopping::TooLate(StopCause::Deadline);
        assert_eq!(stopped(late, ClientEnd::Exited(3), died(3)).exit_code(), Some(3));
        let unconfirmed = Stopping::Unconfirmed(StopCause::Deadline);
        assert_eq!(stopped(unconfirmed, ClientEnd::Lost, RAN).verdict(), Verdict::SandboxError);
    }

    #[test]
    fn a_cancelled_run_is_cancelled_however_it_ended() {
        let cause = StopCause::Signal(15);
        for stopping in
            [Stopping::TooLate(cause), Stopping::Killed(cause), Stopping::Unconfirmed(cause)]
        {
            let ending =
                classify(&Evidence { stopping, ..evidence(ClientEnd::Exited(0), died(0)) });
            assert_eq!(ending, Ending::Cancelled(cause));
        }
    }

    #[test]
    fn an_engine_that_cannot_be_asked_leaves_only_codes_that_no_client_gives() {
        let unasked = |code| Evidence {
            record: RecordEvidence::Unavailable,
            ..evidence(ClientEnd::Exited(code), RAN)
        };
        for code in [2, 3, 119, 139, 143, 255] {
            assert_eq!(classify(&unasked(code)).exit_code(), Some(code));
        }
        for code in [1, 125, 126, 127, 137] {
            assert_eq!(classify(&unasked(code)).verdict(), Verdict::SandboxError, "{code}");
        }
    }

    #[test]
    fn a_client_that_has_not_seen_the_end_has_not_passed_on_all_output() {
        for code in [0, 5, 137] {
            for client in [ClientEnd::Lost, ClientEnd::Exited(125)] {
                let ending = classify(&evidence(client, died(code)));
                assert_eq!(ending, Ending::Failed(Failure::OutputLost));
            }
        }
        assert_eq!(classify(&evidence(ClientEnd::Lost, RAN)), Ending::Failed(Failure::EndUnknown));
    }

    #[test]
    fn a_silent_engine_without_a_record_leaves_the_end_unknown() {
        let ending = classify(&evidence(ClientEnd::Exited(137), Record::default()));
        assert_eq!(ending, Ending::Failed(Failure::EndUnknown));
    }

    #[test]
    fn an_engine_that_forgot_the_start_but_not_the_end_is_believed() {
        let record = Record { died: Some(125), ..Record::default() };
        assert_eq!(classify(&evidence(ClientEnd::Exited(125), record)).exit_code(), Some(125));
    }
}
