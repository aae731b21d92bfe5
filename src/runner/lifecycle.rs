//! Decides the life of one run: what is done next, and what is known in the end.
//!
//! A pure state machine. Each step says what to do and has one method, which takes what came of
//! it and gives the next step. It knows no clock, no process and no engine, so that a test can
//! walk all of its paths.

use super::cleanup::{CreateRace, Fate};
use super::client::Wake;
use crate::engine::{KillAnswer, RemoveAnswer};
use crate::outcome::classify::{
    CLIENT_CODES, ClientEnd, KILLED, RecordEvidence, StopCause, Stopping,
};

#[cfg(test)]
mod model;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Wait for the end of the client, for the deadline, or for somebody's stop.
    Watch(Watch),
    /// The time since the spawn is over: ask the engine when the program's own began.
    AskStart,
    /// Kill the container.
    Kill(Kill),
    /// It cannot be killed: wait a moment for the client's end.
    Pause(Pause),
    /// Remove the container.
    Remove(Remove),
    /// Wait for the client of a container that was killed.
    AwaitEnd(AwaitEnd),
    /// Kill the client itself, and wait for its end.
    Abandon(Abandon),
    /// Let the pipes run dry, and read whose words are held back.
    Listen(Listen),
    /// Ask the engine what it remembers.
    AskRecord(AskRecord),
    /// Make sure that the container is gone.
    CleanUp(CleanUp),
    /// Nothing: all is known.
    Done(Known),
}

/// The program may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Watch {
    record: RecordEvidence,
}

/// Somebody wants the end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stop {
    cause: StopCause,
    record: RecordEvidence,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kill(Stop);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pause(Stop);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remove(Stop);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AwaitEnd(Stop);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Abandon(Stop);

/// The client has ended, or has been given up.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ended {
    client: ClientEnd,
    stopping: Stopping,
    /// What was learnt on the way.
    record: RecordEvidence,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listen(Ended);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AskRecord {
    ended: Ended,
    words: Words,
}

/// The container may still be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CleanUp {
    ended: Ended,
    /// Whether it can still appear.
    pub(super) race: CreateRace,
}

/// What is known in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// How the client ended.
    pub(super) client: ClientEnd,
    /// What das did.
    pub(super) stopping: Stopping,
    /// What the engine says.
    pub(super) record: RecordEvidence,
    /// What is known of the container.
    pub(super) fate: Fate,
}

/// Whether the deadline lies later than it seemed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Now,
    Later,
}

/// Whether there is time left for another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Left,
    Up,
}

/// What the client's standard error looks like. A program can imitate all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// The program's.
    Program,
    /// They may be the engine's.
    Held,
    /// They may be those of an engine that refuses to make a container.
    Refused,
    /// They may be those of a client that could not even ask for one.
    NeverAsked,
}

impl Step {
    /// The first step.
    pub(super) fn begin() -> Self {
        Self::Watch(Watch { record: RecordEvidence::NotNeeded })
    }

    /// What follows [`Step::AskStart`].
    pub(super) fn after_question(record: RecordEvidence, due: Due) -> Self {
        match due {
            Due::Later => Self::Watch(Watch { record }),
            Due::Now => Self::Kill(Kill(Stop { cause: StopCause::Deadline, record })),
        }
    }
}

impl Watch {
    pub(super) fn woken(self, wake: Wake) -> Step {
        match wake {
            Wake::Exited(client) => ended(client, Stopping::No, RecordEvidence::NotNeeded),
            Wake::Stop(cause) => Step::Kill(Kill(Stop { cause, record: self.record })),
            Wake::Time => Step::AskStart,
        }
    }
}

impl Kill {
    /// An engine that does not answer one command will not answer the next.
    pub(super) fn answered(self, answer: Option<&KillAnswer>) -> Step {
        match answer {
            Some(KillAnswer::Killed) => Step::AwaitEnd(AwaitEnd(self.0)),
            // It is not there yet, or not any more: then the client ends by itself.
            Some(KillAnswer::Refused(_)) => Step::Pause(Pause(self.0)),
            None => Step::Abandon(Abandon(self.0)),
        }
    }
}

impl Pause {
    pub(super) fn over(self, client: Option<ClientEnd>) -> Step {
        let Self(Stop { cause, record }) = self;
        match client {
            Some(client) => ended(client, Stopping::TooLate(cause), record),
            // Or it was made and never started: then it cannot be killed, only removed.
            None => Step::Remove(Remove(Stop { cause, record })),
        }
    }
}

impl Remove {
    pub(super) fn answered(self, answer: Option<&RemoveAnswer>, time: Time) -> Step {
        match (answer, time) {
            (Some(RemoveAnswer::Removed), _) => Step::AwaitEnd(AwaitEnd(self.0)),
            (
                Some(RemoveAnswer::Absent | RemoveAnswer::InProgress | RemoveAnswer::Refused(_)),
                Time::Left,
            ) => Step::Kill(Kill(self.0)),
            (
                Some(RemoveAnswer::Absent | RemoveAnswer::InProgress | RemoveAnswer::Refused(_)),
                Time::Up,
            )
            | (None, _) => Step::Abandon(Abandon(self.0)),
        }
    }
}

impl AwaitEnd {
    pub(super) fn over(self, client: Option<ClientEnd>) -> Step {
        let Self(Stop { cause, record }) = self;
        match client {
            Some(client) => ended(client, Stopping::Killed(cause), record),
            None => Step::Abandon(Abandon(Stop { cause, record })),
        }
    }
}

impl Abandon {
    pub(super) fn over(self) -> Step {
        let Self(Stop { cause, record }) = self;
        ended(ClientEnd::Lost, Stopping::Unconfirmed(cause), record)
    }
}

fn ended(client: ClientEnd, stopping: Stopping, record: RecordEvidence) -> Step {
    Step::Listen(Listen(Ended { client, stopping, record }))
}

impl Listen {
    /// The engine is asked where its answer can change what is believed.
    pub(super) fn heard(self, words: Words) -> Step {
        let Self(ended) = self;
        match (ended.stopping, ended.client) {
            (Stopping::No, ClientEnd::Exited(0)) if words == Words::Program => {
                ended.judged(RecordEvidence::NotNeeded, words)
            }
            // It ended by itself between the deadline and the kill.
            (Stopping::Killed(StopCause::Deadline), ClientEnd::Exited(code)) if code != KILLED => {
                Step::AskRecord(AskRecord { ended, words })
            }
            // Whose words are they that are held back?
            (Stopping::Killed(_), ClientEnd::Exited(_))
                if ended.record == RecordEvidence::NotNeeded && words != Words::Program =>
            {
                Step::AskRecord(AskRecord { ended, words })
            }
            // What was learnt at the deadline stands: the kill is what ended it.
            (Stopping::Killed(_), ClientEnd::Exited(_)) | (Stopping::Unconfirmed(_), _) => {
                let record = ended.record.clone();
                ended.judged(record, words)
            }
            (Stopping::No | Stopping::TooLate(_) | Stopping::Killed(_), _) => {
                Step::AskRecord(AskRecord { ended, words })
            }
        }
    }
}

impl AskRecord {
    pub(super) fn told(self, record: RecordEvidence) -> Step {
        self.ended.judged(record, self.words)
    }
}

impl Ended {
    /// A client that ended by itself has seen its container removed; any other may have left it.
    fn judged(self, record: RecordEvidence, words: Words) -> Step {
        let race = self.race(&record);
        let may_live = self.may_live(&record, words);
        let ended = Self { record, ..self };
        if may_live {
            Step::CleanUp(CleanUp { ended, race })
        } else {
            Step::Done(ended.known(Fate::Gone))
        }
    }

    fn may_live(&self, record: &RecordEvidence, words: Words) -> bool {
        let code = match self.client {
            // Its words are whatever the program likes.
            ClientEnd::Lost => return true,
            ClientEnd::Exited(code) => code,
        };
        match record {
            RecordEvidence::NotNeeded => false,
            // An engine that was restarted remembers nothing, whatever it had made. Only a client
            // that tells why nothing was made, or that tells the program's own end, is believed.
            RecordEvidence::Known(record) if record.is_empty() && self.lost_sight(code) => {
                match words {
                    Words::Refused | Words::NeverAsked => false,
                    Words::Program | Words::Held => true,
                }
            }
            RecordEvidence::Known(record) => record.left_behind(),
            RecordEvidence::Unavailable => words != Words::NeverAsked,
        }
    }

    /// Whether a client may have ended so without having seen the container's end.
    fn lost_sight(&self, code: i32) -> bool {
        match self.stopping {
            Stopping::Killed(_) => false,
            Stopping::No | Stopping::TooLate(_) | Stopping::Unconfirmed(_) => {
                CLIENT_CODES.contains(&code)
            }
        }
    }

    fn race(&self, record: &RecordEvidence) -> CreateRace {
        let ran = match record {
            RecordEvidence::Known(record) => record.ran(),
            RecordEvidence::NotNeeded | RecordEvidence::Unavailable => false,
        };
        match self.stopping {
            Stopping::Killed(_) => CreateRace::Over,
            Stopping::No | Stopping::TooLate(_) | Stopping::Unconfirmed(_) if ran => {
                CreateRace::Over
            }
            Stopping::No | Stopping::TooLate(_) | Stopping::Unconfirmed(_) => CreateRace::Open,
        }
    }

    fn known(self, fate: Fate) -> Known {
        let Self { client, stopping, record } = self;
        // A removal that the engine confirms is as good as a kill.
        let stopping = match (stopping, fate) {
            (Stopping::Unconfirmed(cause), Fate::Gone) => Stopping::Killed(cause),
            (stopping, Fate::Gone | Fate::Unconfirmed) => stopping,
        };
        Known { client, stopping, record, fate }
    }
}

impl CleanUp {
    pub(super) fn over(self, fate: Fate) -> Step {
        Step::Done(self.ended.known(fate))
    }
}
