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

/// The loader of a dynamic program.
pub(super) fn loader_of(path: &Path) -> Result<Option<PathBuf>, OfflineError> {
    Ok(match inspect(path)? {
        Binary::Dynamic { loader } => Some(loader),
        Binary::NoLoader | Binary::ShellScript | Binary::Other => None,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(content: &[u8]) -> Binary {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        inspect(file.path()).unwrap()
    }

    /// A 64-bit ELF header with one program header, which names a loader.
    fn elf(program_header_bytes: u8, loader: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES + PROGRAM_HEADER_BYTES];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[32] = 64;
        bytes[54] = program_header_bytes;
        bytes[56] = 1;
        bytes[64] = 3;
        bytes[64 + 8] = 120;
        bytes[64 + 32] = u8::try_from(loader.len()).unwrap();
        bytes.extend_from_slice(loader);
        bytes
    }

    #[test]
    fn a_dynamic_program_names_its_loader() {
        let loader = PathBuf::from("/lib/ld.so");
        assert_eq!(kind(&elf(56, b"/lib/ld.so\0")), Binary::Dynamic { loader });
        assert_eq!(kind(&elf(0, b"/lib/ld.so\0")), Binary::NoLoader);
    }

    #[test]
    fn this_test_itself_is_an_elf_file() {
        let own = std::env::current_exe().unwrap();
        assert!(matches!(inspect(&own), Ok(Binary::Dynamic { .. } | Binary::NoLoader)));
    }

    #[test]
    fn scripts_for_the_shell_are_told_from_others() {
        for script in ["#!/bin/sh\necho", "#! /bin/sh -e\n", "#!/usr/bin/sh"] {
            assert_eq!(kind(script.as_bytes()), Binary::ShellScript, "{script}");
        }
        for other in ["#!/usr/bin/perl\n", "#!/usr/bin/env sh\n", "text", "", "\x7fELF\x01\x01"] {
            assert_eq!(kind(other.as_bytes()), Binary::Other, "{other}");
        }
    }

    #[test]
    fn a_cut_file_is_an_error_and_no_panic() {
        let whole = elf(56, b"/lib/ld.so\0");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &whole[..100]).unwrap();
        assert!(matches!(inspect(file.path()), Err(OfflineError::Read { .. })));
    }
}
