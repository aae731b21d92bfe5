//! The shell and the small tools, which every offline image has: programs call `sh`, scripts
//! call the tools, and the images of a registry have both too.

use std::env;
use std::path::{Path, PathBuf};

use super::elf::{self, Binary};
use super::error::OfflineError;
use super::filler::{Filler, canonical};

/// Where the tools are looked for before `PATH`, in which a person may keep wrappers.
const SYSTEM_DIRECTORIES: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// The tools, as far as this machine has them. None changes users, mounts or reaches a network.
const TOOLS: &str = "\
    [ awk b2sum base32 base64 basename bash bc bunzip2 bzcat bzip2 cat chmod cksum cmp column \
    comm cp csplit cut date dc dd df diff dirname du echo egrep env expand expr factor false \
    fgrep find fmt fold free getopt grep groups gunzip gzip head hexdump hostname id install \
    join jq kill link ln ls md5sum mkdir mkfifo mktemp mv nice nl nohup nproc numfmt od paste \
    patch pgrep pkill pr printenv printf ps pwd readlink realpath rev rm rmdir sed seq setsid \
    sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf \
    strings stty sum sync tac tail tar tee test timeout touch tr true truncate tsort tty uname \
    unexpand uniq unlink unxz uptime wc which whoami xargs xxd xz xzcat yes zcat";

/// Adds `sh` and the tools that this machine has.
pub(super) fn fill(filler: &mut Filler) -> Result<(), OfflineError> {
    let sh = find("sh").ok_or(OfflineError::NotInstalled { program: "sh" })?;
    filler.tree.symlink(Path::new("bin"), Path::new("usr/bin"));
    filler.required(&home(&canonical(&sh)?), &canonical(&sh)?)?;
    link(filler, "sh", &canonical(&sh)?);
    for tool in TOOLS.split(' ') {
        if let Some(path) = find(tool) {
            add(filler, tool, &canonical(&path)?)?;
        }
    }
    Ok(())
}

/// Where this machine has a tool: a program, or a script for `sh`.
pub(super) fn find(tool: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = SYSTEM_DIRECTORIES.iter().map(PathBuf::from);
    system
        .chain(env::split_paths(&path).filter(|directory| directory.is_absolute()))
        .map(|directory| directory.join(tool))
        .find(|path| elf::inspect(path).is_ok_and(|binary| binary != Binary::Other))
}

fn add(filler: &mut Filler, tool: &str, host: &Path) -> Result<(), OfflineError> {
    let at = home(host);
    if !filler.tree.contains(&at) {
        filler.optional(&at, host)?;
    }
    if filler.tree.contains(&at) {
        link(filler, tool, host);
    }
    Ok(())
}

/// A program keeps its own name, once; what it is called by is a link. One program with many
/// names, such as `BusyBox`, is stored once and still told its name.
fn home(host: &Path) -> PathBuf {
    Path::new("usr/bin").join(host.file_name().unwrap_or_default())
}

fn link(filler: &mut Filler, tool: &str, host: &Path) {
    let target = Path::new(host.file_name().unwrap_or_default());
    filler.tree.symlink(&Path::new("usr/bin").join(tool), target);
}
