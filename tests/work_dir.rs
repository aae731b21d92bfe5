//! The one directory of the host that programs may see.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::support::{Das, Place, Scenario, StandIn};

const SUCCESS: &str = "[sandbox] success in [TIME]\n";

/// A directory in the home that everybody may read.
fn project(stand_in: &StandIn) -> PathBuf {
    let dir = fs::canonicalize(stand_in.home()).unwrap().join("project");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn run<'a>(stand_in: &'a StandIn, dir: &str) -> Das<'a> {
    Das::new(stand_in).args(["run", "-c", "pass", "--work-dir", dir])
}

#[track_caller]
fn mounts(stand_in: &StandIn, source: &Path, access: &str) {
    let run = stand_in.runs().pop().expect("a run");
    let mount = format!("type=bind,source={},target=/work{access}", source.display());
    assert_eq!(run.values("--mount"), [mount]);
    assert_eq!(run.values("--workdir"), ["/work"]);
}

#[test]
fn a_directory_is_mounted_read_only_and_silently() {
    let stand_in = StandIn::playing(Scenario::program());
    let dir = project(&stand_in);
    for said in [dir.to_str().unwrap(), "project", "./project", "project:ro"] {
        run(&stand_in, said).stderr(SUCCESS).status(0);
        mounts(&stand_in, &dir, ",readonly");
    }
}

#[test]
fn a_symbolic_link_is_mounted_as_what_it_leads_to() {
    let stand_in = StandIn::playing(Scenario::program());
    let dir = project(&stand_in);
    symlink(&dir, stand_in.home().join("link")).unwrap();
    run(&stand_in, "link").stderr(SUCCESS).status(0);
    mounts(&stand_in, &dir, ",readonly");
}

#[test]
fn a_writable_directory_is_warned_about_and_what_keeps_it_from_being_written_is_mended() {
    let stand_in = StandIn::playing(Scenario::program());
    let dir = project(&stand_in);
    let path = dir.display();
    let changes =
        format!("[sandbox] warning: programs may change and delete what is in `{path}`\n");
    let cannot = format!(
        "[sandbox] warning: user 65534:65534 cannot write in `{path}`; to mend it: chown \
         65534:65534 {path}\n"
    );
    run(&stand_in, "project:rw").stderr(format!("{changes}{cannot}{SUCCESS}")).status(0);
    mounts(&stand_in, &dir, "");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    run(&stand_in, "project:rw").arg("-q").stderr(changes).status(0);
}

#[test]
fn a_directory_that_its_programs_cannot_read_comes_with_its_fix() {
    let stand_in = StandIn::playing(Scenario::program());
    let dir = project(&stand_in);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
    let path = dir.display();
    let warning = format!(
        "[sandbox] warning: user 65534:65534 cannot read `{path}`; to mend it: chmod o+rx {path}\n"
    );
    run(&stand_in, "project").stderr(warning + SUCCESS).status(0);
}

/// Refused before anything runs, by every command alike.
#[track_caller]
fn refused(stand_in: &StandIn, dir: &str, cause: &str) {
    let expected = format!("error: the policy is refused\n  caused by: {cause}\n");
    run(stand_in, dir).stderr(&expected).status(2);
    let other = |command| Das::new(stand_in).args([command, "--work-dir", dir]);
    other("explain").stderr(&expected).status(2);
    other("policy").stderr(&expected).status(2);
    assert!(stand_in.calls().is_empty());
}

#[test]
fn what_is_more_than_one_project_is_refused() {
    let stand_in = StandIn::new();
    for dir in ["/", "/tmp", "/home"] {
        let cause = "it holds more than one project; name a directory inside it";
        refused(&stand_in, dir, &format!("the work directory `{dir}` is refused: {cause}"));
    }
    let home = fs::canonicalize(stand_in.home()).unwrap();
    let cause = "it is or contains a home directory; name a directory inside it";
    let cause = format!("the work directory `{}` is refused: {cause}", home.display());
    refused(&stand_in, home.to_str().unwrap(), &cause);
    refused(&stand_in, ".", &cause);
}

#[test]
fn what_belongs_to_the_system_or_holds_keys_is_refused() {
    let stand_in = StandIn::new();
    let etc = "the work directory `/etc` is refused: `/etc` belongs to the system";
    refused(&stand_in, "/etc", etc);
    symlink("/etc", stand_in.home().join("innocent")).unwrap();
    refused(&stand_in, "innocent", etc);
    let keys = fs::canonicalize(stand_in.home()).unwrap().join(".ssh/keys");
    fs::create_dir_all(&keys).unwrap();
    let cause = format!(
        "the work directory `{}` is refused: `.ssh` holds keys or settings",
        keys.display()
    );
    refused(&stand_in, ".ssh/keys", &cause);
}

#[test]
fn what_contains_a_socket_is_refused() {
    let stand_in = StandIn::new();
    let dir = project(&stand_in);
    let socket = dir.join("docker.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let cause = format!(
        "the work directory `{}` is refused: it contains the socket `{}`",
        dir.display(),
        socket.display()
    );
    refused(&stand_in, "project", &cause);
}

#[test]
fn a_path_that_could_add_options_to_the_mount_is_refused() {
    let stand_in = StandIn::new();
    let dir = project(&stand_in).join("a,readonly=false");
    fs::create_dir(&dir).unwrap();
    let cause = format!(
        "the work directory `{}` is refused: its path has a comma, a quote, a backslash or a \
         control character",
        dir.display()
    );
    refused(&stand_in, "project/a,readonly=false", &cause);
}

#[test]
fn what_is_not_there_or_no_directory_is_refused() {
    let stand_in = StandIn::new();
    let dir = project(&stand_in);
    let none = stand_in.home().join("project/none");
    let cause = format!(
        "cannot open the work directory `{}`\n  caused by: No such file or directory (os error 2)",
        none.display()
    );
    refused(&stand_in, "project/none", &cause);
    fs::write(dir.join("file"), "").unwrap();
    let file = dir.join("file");
    let cause =
        format!("the work directory `{}` is refused: it is not a directory", file.display());
    refused(&stand_in, "project/file", &cause);
}
