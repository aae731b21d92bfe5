//! A program as its interpreter gets it, or why it is none.

use std::sync::Arc;

use crate::digest;
use crate::language::{self, BYTE_ORDER_MARK};

/// Why a text is not taken for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// It has a NUL byte, at which some interpreters stop and report success.
    #[error("the code has a NUL byte at offset {offset}; send plain text")]
    Nul {
        /// Where the first one is.
        offset: usize,
    },
    /// It is too long.
    #[error("the code has more than {limit} bytes, the policy's `max_code_bytes`")]
    TooLong {
        /// The policy's limit.
        limit: u64,
    },
}

/// A program that passed its checks.
#[derive(Debug)]
pub(super) struct Code {
    /// What the interpreter reads.
    pub(super) bytes: Arc<[u8]>,
    /// The SHA-256 of what was given, in hexadecimal digits.
    pub(super) sha256: String,
    /// What was changed on the way.
    pub(super) warning: Option<String>,
}

impl Code {
    /// Checks a program, and makes of a Windows script one that a shell reads right.
    pub(super) fn new(language: &str, given: &[u8], limit: u64) -> Result<Self, CodeError> {
        if given.len() as u64 > limit {
            return Err(CodeError::TooLong { limit });
        }
        if let Some(offset) = given.iter().position(|&byte| byte == 0) {
            return Err(CodeError::Nul { offset });
        }
        let sha256 = digest::sha256(given);
        let (bytes, changes) = match language::canonical_name(language).as_str() {
            "shell" => for_a_shell(given),
            _ => (given.to_owned(), Vec::new()),
        };
        let warning = (!changes.is_empty()).then(|| changes.join("; "));
        Ok(Self { bytes: bytes.into(), sha256, warning })
    }
}

/// A shell takes the carriage return of a Windows line end for part of a word, and a byte order
/// mark for part of the first command's name.
fn for_a_shell(given: &[u8]) -> (Vec<u8>, Vec<&'static str>) {
    let mut changes = Vec::new();
    let text = given.strip_prefix(BYTE_ORDER_MARK).unwrap_or(given);
    if text.len() < given.len() {
        changes.push("the byte order mark at the script's beginning was left out");
    }
    if !text.windows(2).any(|pair| pair == b"\r\n") {
        return (text.to_owned(), changes);
    }
    changes.push("Windows line ends (CRLF) in the script were read as LF");
    (with_line_feeds(text), changes)
}

fn with_line_feeds(given: &[u8]) -> Vec<u8> {
    let next = given.iter().skip(1).map(Some).chain([None]);
    let pairs = given.iter().zip(next).filter(|pair| *pair != (&b'\r', Some(&b'\n')));
    pairs.map(|(&byte, _)| byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_windows_script_loses_its_carriage_returns_and_nothing_else() {
        let code = Code::new("sh", b"a\r\nb\rc\r\r\n\r", 100).unwrap();
        assert_eq!(&*code.bytes, b"a\nb\rc\r\n\r");
        assert!(code.warning.is_some());
        assert_eq!(&*Code::new("python", b"a\r\n", 100).unwrap().bytes, b"a\r\n");
    }

    #[test]
    fn the_hash_is_that_of_what_was_given() {
        let code = Code::new("shell", b"", 100).unwrap();
        assert!(code.sha256.starts_with("e3b0c44298fc1c14"), "{}", code.sha256);
    }

    #[test]
    fn a_nul_byte_and_a_byte_too_many_are_refused() {
        assert_eq!(Code::new("python", b"a\0", 100).unwrap_err(), CodeError::Nul { offset: 1 });
        assert_eq!(Code::new("python", b"abc", 2).unwrap_err(), CodeError::TooLong { limit: 2 });
        assert!(Code::new("python", b"abc", 3).is_ok());
    }
}
