//! Checks the chain of a log, and names the lines where it does not hold.
//!
//! It streams: memory does not grow with the log. It knows lines and their links, not what a
//! record says. What a chain cannot tell by itself is whether lines are missing at its very end,
//! or whether its last line was changed: for that, somebody has to keep the last line's digest.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read};

use super::chain::Link;
use super::lines::Lines;

#[cfg(test)]
mod tests;

/// The most faults that are listed one by one.
const MOST_FAULTS: usize = 100;

/// Something that is wrong with a log. Lines are numbered from 1 in each file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The line is not what it was when the next one was written.
    Changed {
        /// The line.
        line: u64,
    },
    /// One of the two is not what it was; nothing after them tells which.
    EitherChanged {
        /// The second of the two.
        line: u64,
    },
    /// Records that were before this line are not there.
    Missing {
        /// The line.
        line: u64,
        /// The number of the first missing record.
        first: u64,
        /// The number of the last.
        last: u64,
    },
    /// The record was written before the ones that stand before it here, or stands here twice.
    OutOfOrder {
        /// The line.
        line: u64,
        /// The number of its record.
        seq: u64,
    },
    /// The line was put between two records.
    Inserted {
        /// The line.
        line: u64,
    },
}

/// What a log was found to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// How many lines it has.
    pub lines: u64,
    /// What is wrong, the first faults in the order in which they were found.
    pub faults: Vec<Fault>,
    /// How many faults are not listed.
    pub unlisted: u64,
    /// The first lines that are no records. Where there is no fault, the record after each vouches
    /// for its bytes: das found it so, torn by a power cut or written by somebody else.
    pub torn: Vec<u64>,
    /// The last line has no line feed. The next record will be written after it.
    pub torn_end: bool,
    /// The digest of the last line; none where there is no line.
    pub last_sha256: Option<String>,
}

impl Findings {
    /// Whether the chain holds.
    pub fn is_whole(&self) -> bool {
        self.faults.is_empty() && self.unlisted == 0
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { line } => write!(f, "line {line}: it was changed"),
            Self::EitherChanged { line } => {
                write!(f, "line {}: it or line {line} was changed", line - 1)
            }
            Self::Missing { line, first, last } if first == last => {
                write!(f, "line {line}: record {first}, which came before it, is missing")
            }
            Self::Missing { line, first, last } => {
                write!(
                    f,
                    "line {line}: records {first} to {last}, which came before it, are missing"
                )
            }
            Self::OutOfOrder { line, seq } => {
                write!(f, "line {line}: record {seq} is out of its order")
            }
            Self::Inserted { line } => write!(f, "line {line}: it was inserted"),
        }
    }
}

/// Checks files one after the other.
#[derive(Debug, Default)]
pub struct Verifier {
    findings: Findings,
    /// The end of the chain so far in this file.
    end: Option<End>,
    /// The end of the file before.
    before: Option<End>,
    /// Records that turned up later than their place.
    late: BTreeSet<u64>,
    /// The digest of a line that must be there, until it has been found.
    wanted: Option<String>,
}

/// The last line that has its place in the chain.
#[derive(Debug, Clone)]
struct End {
    /// What the next record's link must be.
    next: Link,
    /// What it must be if the lines since the last record were inserted, and how many they are.
    record: Option<(Link, u64)>,
    trust: Trust,
}

/// What is thought of the last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Nothing speaks against it.
    Full,
    /// It or the line before it was changed.
    Doubt,
    /// It was changed, which has been said.
    None,
}

impl End {
    fn start() -> Self {
        Self { next: Link::first(), record: None, trust: Trust::Full }
    }
}

impl Verifier {
    /// Also looks for the line with this SHA-256, in hexadecimal digits.
    #[must_use]
    pub fn looking_for(self, sha256: &str) -> Self {
        Self { wanted: Some(sha256.to_owned()), ..self }
    }

    /// Whether every line that was looked for has been found.
    pub fn found(&self) -> bool {
        self.wanted.is_none()
    }

    /// Checks the next file. It must begin a chain, or go on where the file before it ended.
    pub fn read(&mut self, file: impl Read) -> io::Result<Findings> {
        self.before = self.end.take();
        for line in Lines::new(file) {
            let line = line?;
            self.findings.lines += 1;
            self.findings.torn_end = !line.ended;
            match line.bytes.as_deref().and_then(Link::of) {
                Some(place) => self.check(&place, &line.sha256),
                None => self.pass_over(&line.sha256),
            }
            self.wanted.take_if(|wanted| *wanted == line.sha256);
            self.findings.last_sha256 = Some(line.sha256);
        }
        self.settle_end();
        self.settle_late();
        Ok(std::mem::take(&mut self.findings))
    }

    /// A line that is no record: the next record tells whether it was there.
    fn pass_over(&mut self, sha256: &str) {
        let number = self.findings.lines;
        if self.findings.torn.len() < MOST_FAULTS {
            self.findings.torn.push(number);
        }
        let End { next, record, trust } = self.end.take().unwrap_or_else(End::start);
        if trust == Trust::Doubt {
            self.note(Fault::EitherChanged { line: number - 1 });
        }
        let (after_record, count) = record.unwrap_or_else(|| (next.clone(), 0));
        self.end = Some(End {
            next: Link { seq: next.seq.saturating_add(1), prev_sha256: sha256.to_owned() },
            record: Some((after_record, count + 1)),
            trust: Trust::Full,
        });
    }

    fn check(&mut self, link: &Link, sha256: &str) {
        let number = self.findings.lines;
        let continued = self.before.take().filter(|before| number == 1 && before.next == *link);
        let end = self.end.take().or(continued).unwrap_or_else(End::start);
        let place = Place::of(link, &end.next, end.record.as_ref());
        self.settle_doubt(end.trust, place);
        let trust = self.judge(number, link, &end, place);
        self.end = Some(match place {
            // The chain goes on from where it was.
            Place::Behind => End { trust: Trust::Full, ..end },
            Place::Right
            | Place::SeqChanged
            | Place::AfterInserted(_)
            | Place::HashDiffers
            | Place::Ahead => {
                let seq = if place == Place::SeqChanged { end.next.seq } else { link.seq };
                let seq = seq.saturating_add(1);
                End { next: Link { seq, prev_sha256: sha256.to_owned() }, record: None, trust }
            }
        });
    }

    /// Notes what is wrong with a record's place.
    fn judge(&mut self, number: u64, link: &Link, end: &End, place: Place) -> Trust {
        match place {
            Place::Right => return Trust::Full,
            // The change before explains it.
            Place::HashDiffers if end.trust != Trust::Full => return Trust::Full,
            Place::HashDiffers if number > 1 => return Trust::Doubt,
            Place::SeqChanged | Place::HashDiffers => {
                self.note(Fault::Changed { line: number });
                return Trust::None;
            }
            Place::AfterInserted(count) => {
                (number - count..number).for_each(|line| self.note(Fault::Inserted { line }));
            }
            Place::Ahead => {
                let (first, last) = (end.next.seq, link.seq - 1);
                self.note(Fault::Missing { line: number, first, last });
            }
            Place::Behind => {
                self.note(Fault::OutOfOrder { line: number, seq: link.seq });
                if self.late.len() < MOST_FAULTS {
                    self.late.insert(link.seq);
                }
            }
        }
        Trust::Full
    }

    /// Tells which of two lines was changed: if the record after the second vouches for it, it was
    /// the first.
    fn settle_doubt(&mut self, trust: Trust, place: Place) {
        let number = self.findings.lines;
        if trust == Trust::Doubt {
            self.note(match place {
                Place::Right | Place::SeqChanged => Fault::Changed { line: number - 2 },
                Place::HashDiffers => Fault::Changed { line: number - 1 },
                Place::AfterInserted(_) | Place::Ahead | Place::Behind => {
                    Fault::EitherChanged { line: number - 1 }
                }
            });
        }
    }

    /// Nothing comes that could tell more about the last lines. Of those that are no records only
    /// the very last can have been torn off.
    fn settle_end(&mut self) {
        let Some(End { record, trust, .. }) = &self.end else { return };
        let (lines, doubt) = (self.findings.lines, *trust == Trust::Doubt);
        let others = record.as_ref().map_or(0, |(_, count)| *count);
        let last = lines - u64::from(self.findings.torn_end);
        (lines - others + 1..=last).for_each(|line| self.note(Fault::Inserted { line }));
        if doubt {
            self.note(Fault::EitherChanged { line: lines });
        }
    }

    /// What turned up later is not missing.
    fn settle_late(&mut self) {
        let late = std::mem::take(&mut self.late);
        self.findings.faults.retain(|fault| match fault {
            Fault::Missing { first, last, .. } => {
                let few = last - first < MOST_FAULTS as u64;
                !(few && (*first..=*last).all(|seq| late.contains(&seq)))
            }
            Fault::Changed { .. }
            | Fault::EitherChanged { .. }
            | Fault::OutOfOrder { .. }
            | Fault::Inserted { .. } => true,
        });
    }

    fn note(&mut self, fault: Fault) {
        if self.findings.faults.len() < MOST_FAULTS {
            self.findings.faults.push(fault);
        } else {
            self.findings.unlisted += 1;
        }
    }
}

/// Where a record stands in comparison to where it says that it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Right,
    /// It follows the line before it by its digest, but not by its number.
    SeqChanged,
    /// It follows the record before it; so many lines stand between that are no records.
    AfterInserted(u64),
    /// It has the right number, and was written after another line than the one before it.
    HashDiffers,
    /// Its number is too high.
    Ahead,
    /// Its number is too low.
    Behind,
}

impl Place {
    fn of(link: &Link, next: &Link, record: Option<&(Link, u64)>) -> Self {
        let follows = link.prev_sha256 == next.prev_sha256;
        match record {
            _ if follows && link.seq == next.seq => Self::Right,
            _ if follows => Self::SeqChanged,
            Some((after_record, count)) if link == after_record => Self::AfterInserted(*count),
            Some(_) | None if link.seq == next.seq => Self::HashDiffers,
            Some(_) | None if link.seq > next.seq => Self::Ahead,
            Some(_) | None => Self::Behind,
        }
    }
}
