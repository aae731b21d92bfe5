//! Judges the one host directory that a policy may mount, before anything runs.
//!
//! It looks at the host's file system; it knows no engine. What it grants is a [`Mount`],
//! which nothing else can make.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::names::User;
use crate::policy::WorkDir;

/// Where programs find the directory.
pub const TARGET: &str = "/work";

/// Directories that are refused with everything below them.
const SYSTEM_TREES: [&str; 18] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var/lib/containerd",
    "/var/lib/containers",
    "/var/lib/docker",
    "/Library",
    "/System",
];

/// Directories that are refused themselves: others keep their things in them.
const SHARED_PLACES: [&str; 12] = [
    "/", "/home", "/media", "/mnt", "/opt", "/private", "/root", "/srv", "/tmp", "/Users", "/var",
    "/var/tmp",
];

/// Directories of a home that hold keys and settings.
const SECRET_PLACES: [&str; 7] =
    [".aws", ".azure", ".config", ".docker", ".gnupg", ".kube", ".ssh"];

/// The most entries that a directory may hold: beyond it no check for sockets ends in time.
const MOST_ENTRIES: usize = 1_000_000;

/// A host directory that has been judged harmless enough to mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    source: String,
    access: Access,
    warnings: Vec<String>,
}

/// What programs may do in the mounted directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read what is there.
    ReadOnly,
    /// Change it.
    Writable,
}

/// Why a directory is not mounted.
#[derive(Debug, thiserror::Error)]
pub enum WorkDirError {
    /// It cannot be looked at.
    #[error("cannot open the work directory `{}`", path.display())]
    Open {
        /// As the policy has it.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is something that no sandbox may see.
    #[error("the work directory `{}` is refused: {reason}", path.display())]
    Refused {
        /// With symbolic links resolved.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Mount {
    /// The directory on the host: absolute, without symbolic links, safe in a `--mount` option.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What programs may do in it.
    pub fn access(&self) -> Access {
        self.access
    }

    /// What the owner of the policy should hear on every run.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Judges a directory for a user of the container. `homes` are home directories, das's own
    /// user's among them.
    pub fn judge(dir: &WorkDir, user: User, homes: &[PathBuf]) -> Result<Self, WorkDirError> {
        let open = |source| WorkDirError::Open { path: dir.path.clone(), source };
        if !dir.path.is_absolute() {
            return Err(refused(&dir.path, "its path is not absolute"));
        }
        let path = fs::canonicalize(&dir.path).map_err(open)?;
        let metadata = fs::metadata(&path).map_err(open)?;
        if !metadata.is_dir() {
            return Err(refused(&path, "it is not a directory"));
        }
        refuse_place(&path, homes)?;
        let source = mountable(&path)?;
        refuse_sockets(&path)?;
        let access = if dir.writable { Access::Writable } else { Access::ReadOnly };
        let warnings = warnings(&source, access, user, &metadata);
        Ok(Self { source, access, warnings })
    }
}

fn refused(path: &Path, reason: impl Into<String>) -> WorkDirError {
    WorkDirError::Refused { path: path.to_owned(), reason: reason.into() }
}

fn refuse_place(path: &Path, homes: &[PathBuf]) -> Result<(), WorkDirError> {
    if SHARED_PLACES.iter().any(|place| path == Path::new(place)) {
        return Err(refused(path, "it holds more than one project; name a directory inside it"));
    }
    if let Some(tree) = SYSTEM_TREES.iter().find(|tree| path.starts_with(tree)) {
        return Err(refused(path, format!("`{tree}` belongs to the system")));
    }
    let other_home = ["/home", "/Users"].iter().any(|all| path.parent() == Some(Path::new(all)));
    if other_home || homes.iter().any(|home| home.starts_with(path)) {
        return Err(refused(
            path,
            "it is or contains a home directory; name a directory inside it",
        ));
    }
    for home in homes {
        if let Some(secret) = SECRET_PLACES.iter().find(|name| path.starts_with(home.join(name))) {
            return Err(refused(path, format!("`{secret}` holds keys or settings")));
        }
    }
    Ok(())
}

/// `--mount` takes comma-separated options, so a path with a comma would add options.
pub(crate) fn mountable(path: &Path) -> Result<String, WorkDirError> {
    let harmful = |c: char| c.is_control() || matches!(c, ',' | '"' | '\'' | '\\');
    match path.to_str() {
        Some(text) if !text.contains(harmful) => Ok(text.to_owned()),
        _ => {
            Err(refused(path, "its path has a comma, a quote, a backslash or a control character"))
        }
    }
}

/// A socket is a door to the host, also through a read-only mount: whoever can name it can talk
/// to the process behind it. The engine's own socket would be root on the host.
fn refuse_sockets(root: &Path) -> Result<(), WorkDirError> {
    let mut pending = vec![root.to_owned()];
    let mut seen = 0;
    while let Some(dir) = pending.pop() {
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            // What das's user cannot list, an unprivileged user of the container cannot either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
            Err(source) => return Err(WorkDirError::Open { path: dir, source }),
        };
        for entry in entries {
            let entry = entry.map_err(|source| WorkDirError::Open { path: dir.clone(), source })?;
            seen += 1;
            if seen > MOST_ENTRIES {
                return Err(refused(root, format!("it holds more than {MOST_ENTRIES} entries")));
            }
            let kind = entry
                .file_type()
                .map_err(|source| WorkDirError::Open { path: entry.path(), source })?;
            if kind.is_socket() {
                let socket = entry.path();
                return Err(refused(
                    root,
                    format!("it contains the socket `{}`", socket.display()),
                ));
            }
            if kind.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    Ok(())
}

fn warnings(source: &str, access: Access, user: User, metadata: &fs::Metadata) -> Vec<String> {
    let mut warnings = Vec::new();
    if access == Access::Writable {
        warnings.push(format!("programs may change and delete what is in `{source}`"));
    }
    let needed = match access {
        Access::ReadOnly => 0o5,
        Access::Writable => 0o7,
    };
    let granted = match (metadata.uid() == user.uid(), metadata.gid() == user.gid()) {
        (true, _) => metadata.mode() >> 6,
        (false, true) => metadata.mode() >> 3,
        (false, false) => metadata.mode(),
    };
    if granted & needed != needed {
        let (verb, fix) = match access {
            Access::ReadOnly => ("read", format!("chmod o+rx {source}")),
            Access::Writable => ("write in", format!("chown {user} {source}")),
        };
        let fix = fix.trim_end();
        warnings.push(format!("user {user} cannot {verb} `{source}`; to mend it: {fix}"));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;

    fn judge(path: &Path, homes: &[PathBuf]) -> Result<Mount, WorkDirError> {
        let dir = WorkDir { path: path.to_owned(), writable: false };
        Mount::judge(&dir, User::NOBODY, homes)
    }

    fn refusal(path: &Path, homes: &[PathBuf]) -> String {
        match judge(path, homes) {
            Err(WorkDirError::Refused { reason, .. }) => reason,
            other => panic!("{} was not refused: {other:?}", path.display()),
        }
    }

    /// A directory that everybody may read, outside any home.
    fn open_dir() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        dir
    }

    #[test]
    fn an_ordinary_directory_is_granted_read_only_and_silently() {
        let dir = open_dir();
        let mount = judge(dir.path(), &[]).unwrap();
        assert_eq!(mount.source(), fs::canonicalize(dir.path()).unwrap().to_str().unwrap());
        assert_eq!((mount.access(), mount.warnings()), (Access::ReadOnly, [].as_slice()));
    }

    #[test]
    fn the_root_system_directories_and_shared_places_are_refused() {
        for place in ["/", "/etc", "/usr/share", "/proc/self", "/tmp", "/var", "/var/lib/docker/.."]
        {
            if Path::new(place).exists() && place != "/var/lib/docker/.." {
                refusal(Path::new(place), &[]);
            }
        }
    }

    #[test]
    fn a_home_its_parents_and_its_secrets_are_refused_and_a_project_in_it_is_not() {
        let root = open_dir();
        let home = fs::canonicalize(root.path()).unwrap().join("homes/me");
        fs::create_dir_all(home.join(".ssh/keys")).unwrap();
        fs::create_dir_all(home.join("project")).unwrap();
        let homes = [home.clone()];
        assert!(refusal(&home, &homes).contains("home directory"));
        assert!(refusal(&home.join(".."), &homes).contains("home directory"));
        assert!(refusal(&home.join(".ssh/keys"), &homes).contains("keys or settings"));
        judge(&home.join("project"), &homes).unwrap();
    }

    #[test]
    fn a_symbolic_link_is_judged_by_what_it_leads_to() {
        let dir = open_dir();
        let link = dir.path().join("link");
        symlink("/etc", &link).unwrap();
        assert!(refusal(&link, &[]).contains("belongs to the system"));
    }

    #[test]
    fn a_directory_with_a_socket_anywhere_in_it_is_refused() {
        let dir = open_dir();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        let _listener = UnixListener::bind(dir.path().join("a/b/docker.sock")).unwrap();
        assert!(refusal(dir.path(), &[]).contains("docker.sock"));
    }

    #[test]
    fn a_path_that_could_add_mount_options_is_refused() {
        let dir = open_dir();
        for name in ["a,readonly=false", "a\"b", "a\nb"] {
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            assert!(refusal(&path, &[]).contains("comma"), "{name:?}");
        }
    }

    #[test]
    fn what_is_no_directory_or_not_absolute_is_refused() {
        let dir = open_dir();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(refusal(&file, &[]), "it is not a directory");
        assert_eq!(refusal(Path::new("data"), &[]), "its path is not absolute");
        assert!(matches!(judge(&dir.path().join("none"), &[]), Err(WorkDirError::Open { .. })));
    }

    #[test]
    fn a_writable_directory_is_warned_about_and_an_unwritable_one_comes_with_its_fix() {
        let dir = open_dir();
        let writable = WorkDir { path: dir.path().to_owned(), writable: true };
        let mount = Mount::judge(&writable, User::NOBODY, &[]).unwrap();
        let source = mount.source();
        assert_eq!(
            mount.warnings(),
            [
                format!("programs may change and delete what is in `{source}`"),
                format!(
                    "user 65534:65534 cannot write in `{source}`; to mend it: chown 65534:65534 {source}"
                ),
            ]
        );
    }
}
