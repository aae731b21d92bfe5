//! The little of the ELF format that tells a program from a script and names its loader.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::error::OfflineError;

/// Size of the header of a 64-bit ELF file.
const HEADER_BYTES: usize = 64;
/// Size of one program header of a 64-bit ELF file.
const PROGRAM_HEADER_BYTES: usize = 56;
/// The type of the program header that names the loader.
const PT_INTERP: u32 = 3;
/// The longest loader path that is believed.
const LOADER_BYTES: u64 = 4096;

/// What kind of program a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Binary {
    /// A program that this loader starts.
    Dynamic {
        /// The loader's path, as the program names it.
        loader: PathBuf,
    },
    /// A 64-bit ELF file that names no loader: a static program or a shared library.
    NoLoader,
    /// A script for `/bin/sh`.
    ShellScript,
    /// Anything else.
    Other,
}

/// Looks at the beginning of a file.
pub(super) fn inspect(path: &Path) -> Result<Binary, OfflineError> {
    let read = |source| OfflineError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(read)?;
    let mut start = Vec::new();
    file.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut start).map_err(read)?;
    if is_little_endian_elf64(&start) {
        let loader = loader(&file, &start).map_err(read)?;
        return Ok(loader.map_or(Binary::NoLoader, |loader| Binary::Dynamic { loader }));
    }
    Ok(if is_shell_script(&start) { Binary::ShellScript } else { Binary::Other })
}

fn is_little_endian_elf64(start: &[u8]) -> bool {
    start.len() == HEADER_BYTES && start.starts_with(b"\x7fELF\x02\x01")
}

fn is_shell_script(start: &[u8]) -> bool {
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let words = line.strip_prefix(b"#!").unwrap_or_default().trim_ascii();
    [&b"/bin/sh"[..], b"/usr/bin/sh", b"/bin/sh -e", b"/bin/sh -f"].contains(&words)
}

fn loader(file: &File, header: &[u8]) -> io::Result<Option<PathBuf>> {
    let table = u64_at(header, 32);
    let size = usize::from(u16_at(header, 54));
    let count = usize::from(u16_at(header, 56));
    if size != PROGRAM_HEADER_BYTES {
        return Ok(None);
    }
    let mut headers = vec![0; size * count];
    file.read_exact_at(&mut headers, table)?;
    let found = headers.chunks_exact(size).find(|header| u32_at(header, 0) == PT_INTERP);
    found.map(|header| text_at(file, u64_at(header, 8), u64_at(header, 32))).transpose()
}

fn text_at(file: &File, offset: u64, size: u64) -> io::Result<PathBuf> {
    let size = usize::try_from(size.min(LOADER_BYTES)).map_err(io::Error::other)?;
    let mut text = vec![0; size];
    file.read_exact_at(&mut text, offset)?;
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(size);
    Ok(PathBuf::from(OsStr::from_bytes(&text[..end])))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
