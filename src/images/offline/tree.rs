//! A root filesystem as a value, and the tar stream of it.
//!
//! It knows files, modes and order; it does not know what the files are for. The same tree
//! gives the same bytes: entries are sorted, owners are root, times are fixed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use tar::{Builder, EntryType, Header};

/// 2000-01-01, the time of every entry: after 1980, which zip archives made of these files need.
const MTIME: u64 = 946_684_800;

/// What stands at a path of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Directory { mode: u32 },
    File { source: Source, mode: u32 },
    Symlink { target: PathBuf },
}

/// Where the content of a file comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Host(PathBuf),
    Bytes(Vec<u8>),
}

/// Whether a file of the image can be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Mode 0644.
    Data,
    /// Mode 0755, never set-user-ID.
    Program,
}

impl FileKind {
    const fn mode(self) -> u32 {
        match self {
            Self::Data => 0o644,
            Self::Program => 0o755,
        }
    }
}

/// A root filesystem, its paths relative to the root. What is there first stays.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
}

impl Tree {
    /// Adds a directory with this mode.
    pub(super) fn directory(&mut self, path: &Path, mode: u32) {
        self.insert(path, Node::Directory { mode });
    }

    /// Adds a file whose content is read from the host when the stream is written.
    pub(super) fn host_file(&mut self, path: &Path, host: &Path, kind: FileKind) {
        let source = Source::Host(host.to_owned());
        self.insert(path, Node::File { source, mode: kind.mode() });
    }

    /// Adds a file with this content.
    pub(super) fn bytes(&mut self, path: &Path, content: impl Into<Vec<u8>>) {
        let source = Source::Bytes(content.into());
        self.insert(path, Node::File { source, mode: FileKind::Data.mode() });
    }

    /// Adds a symbolic link to a neighbour or a path below it: a target that is absolute or
    /// climbs is not taken.
    pub(super) fn symlink(&mut self, path: &Path, target: &Path) {
        if target.components().all(|part| matches!(part, Component::Normal(_))) {
            self.insert(path, Node::Symlink { target: target.to_owned() });
        }
    }

    /// Whether something stands at this path.
    pub(super) fn contains(&self, path: &Path) -> bool {
        self.nodes.contains_key(&relative(path))
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn insert(&mut self, path: &Path, node: Node) {
        let path = relative(path);
        for parent in path.ancestors().skip(1).filter(|parent| *parent != Path::new("")) {
            self.nodes.entry(parent.to_owned()).or_insert(Node::Directory { mode: 0o755 });
        }
        self.nodes.entry(path).or_insert(node);
    }

    /// Writes the tree as a tar stream, one file at a time.
    pub(super) fn write_tar(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut tar = Builder::new(out);
        for (path, node) in &self.nodes {
            append(&mut tar, path, node)?;
        }
        tar.into_inner()?.flush()
    }
}

/// A path below the image's root: the root itself, `.` and `..` fall away, so nothing climbs out.
fn relative(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

fn append(tar: &mut Builder<&mut dyn Write>, path: &Path, node: &Node) -> io::Result<()> {
    match node {
        Node::Directory { mode } => {
            tar.append_data(&mut header(EntryType::Directory, *mode, 0), path, io::empty())
        }
        Node::Symlink { target } => {
            tar.append_link(&mut header(EntryType::Symlink, 0o777, 0), path, target)
        }
        Node::File { source: Source::Bytes(bytes), mode } => {
            let size = bytes.len() as u64;
            tar.append_data(&mut header(EntryType::Regular, *mode, size), path, &bytes[..])
        }
        Node::File { source: Source::Host(host), mode } => append_host(tar, path, host, *mode)
            .map_err(|source| {
                io::Error::new(source.kind(), HostFile { host: host.clone(), source })
            }),
    }
}

fn append_host(
    tar: &mut Builder<&mut dyn Write>,
    path: &Path,
    host: &Path,
    mode: u32,
) -> io::Result<()> {
    let file = File::open(host)?;
    let size = file.metadata()?.len();
    let exact = Exact { file, left: size };
    tar.append_data(&mut header(EntryType::Regular, mode, size), path, exact)
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(MTIME);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// A file of this machine could not be put into the stream.
#[derive(Debug, thiserror::Error)]
#[error("cannot put `{}` into the image", host.display())]
struct HostFile {
    host: PathBuf,
    source: io::Error,
}

/// Reads exactly as many bytes as the header promised: a file that changes meanwhile must
/// neither shift what follows nor pass unnoticed.
struct Exact {
    file: File,
    left: u64,
}

impl Read for Exact {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (&self.file).take(self.left).read(buffer)?;
        if count == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it shrank meanwhile"));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar(tree: &Tree) -> Vec<u8> {
        let mut bytes = Vec::new();
        tree.write_tar(&mut bytes).unwrap();
        bytes
    }

    /// Path, mode, content or link target of every entry.
    fn listing(bytes: &[u8]) -> Vec<(String, u32, String)> {
        let mut archive = tar::Archive::new(bytes);
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mode = entry.header().mode().unwrap();
            assert_eq!((entry.header().uid().unwrap(), entry.header().gid().unwrap()), (0, 0));
            assert_eq!(entry.header().mtime().unwrap(), MTIME);
            let link = entry.link_name().unwrap().map(|link| link.display().to_string());
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            (path, mode, link.unwrap_or(content))
        });
        entries.collect()
    }

    fn entry(path: &str, mode: u32, content: &str) -> (String, u32, String) {
        (path.to_owned(), mode, content.to_owned())
    }

    #[test]
    fn entries_are_sorted_and_have_their_parents_before_them() {
        let mut tree = Tree::default();
        tree.bytes(Path::new("/etc/passwd"), "root");
        tree.directory(Path::new("tmp"), 0o1777);
        tree.symlink(Path::new("bin"), Path::new("usr/bin"));
        let expected = [
            entry("bin", 0o777, "usr/bin"),
            entry("etc", 0o755, ""),
            entry("etc/passwd", 0o644, "root"),
            entry("tmp", 0o1777, ""),
        ];
        assert_eq!(listing(&tar(&tree)), expected);
    }

    #[test]
    fn the_order_of_adding_does_not_show() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "content").unwrap();
        let add = |tree: &mut Tree, path: &str| {
            tree.host_file(Path::new(path), file.path(), FileKind::Program);
        };
        let (mut one, mut other) = (Tree::default(), Tree::default());
        for path in ["a/x", "b", "a/y"] {
            add(&mut one, path);
        }
        for path in ["b", "a/y", "a/x"] {
            add(&mut other, path);
        }
        assert_eq!(tar(&one), tar(&other));
        assert_eq!(listing(&tar(&one))[1], entry("a/x", 0o755, "content"));
    }

    #[test]
    fn nothing_climbs_out_of_the_root() {
        let mut tree = Tree::default();
        tree.bytes(Path::new("/../../etc/./x"), "");
        tree.symlink(Path::new("up"), Path::new("../x"));
        tree.symlink(Path::new("host"), Path::new("/etc/x"));
        let paths: Vec<_> = listing(&tar(&tree)).into_iter().map(|(path, ..)| path).collect();
        assert_eq!(paths, ["etc", "etc/x"]);
    }

    #[test]
    fn what_is_there_first_stays() {
        let mut tree = Tree::default();
        tree.bytes(Path::new("a"), "first");
        tree.bytes(Path::new("a"), "second");
        assert_eq!(listing(&tar(&tree)), [entry("a", 0o644, "first")]);
    }

    #[test]
    fn a_long_path_keeps_its_name() {
        let mut tree = Tree::default();
        let path = format!("{}/{}", "d".repeat(120), "f".repeat(200));
        tree.bytes(Path::new(&path), "x");
        assert_eq!(listing(&tar(&tree))[1], entry(&path, 0o644, "x"));
    }

    #[test]
    fn a_file_that_shrinks_or_is_gone_is_an_error_that_names_it() {
        let mut tree = Tree::default();
        tree.host_file(Path::new("a"), Path::new("/nonexistent/file"), FileKind::Data);
        let error = tree.write_tar(&mut io::sink()).unwrap_err();
        assert_eq!(error.to_string(), "cannot put `/nonexistent/file` into the image");
        let file = tempfile::tempfile().unwrap();
        let shrunk = io::copy(&mut Exact { file, left: 5 }, &mut io::sink()).unwrap_err();
        assert_eq!(shrunk.kind(), io::ErrorKind::UnexpectedEof);
    }
}
