//! SHA-256 in lower-case hexadecimal digits, as the audit log and the outcome write it.

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// Size of one read.
const CHUNK: usize = 64 * 1024;

/// The digest of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The digest of a stream of any length.
pub(crate) fn sha256_of(mut stream: impl Read) -> io::Result<String> {
    let (mut hasher, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(finish(hasher)),
            Ok(read) => hasher.update(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The digest of what a hasher was given.
pub(crate) fn finish(hasher: Sha256) -> String {
    hex(&hasher.finalize())
}

/// Whether a text can be such a digest.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_the_digest_of_its_bytes() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
        let long = vec![b'x'; 3 * CHUNK + 1];
        assert_eq!(sha256_of(long.as_slice()).unwrap(), sha256(&long));
        assert!(is_sha256(empty) && !is_sha256(&empty.to_uppercase()) && !is_sha256(&empty[1..]));
    }
}
