//! What every root filesystem has besides programs: accounts, mount points, a place to write.

use std::path::Path;

use super::tree::Tree;

/// Root, and the one without rights; no other account of this machine.
const PASSWD: &str = "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n";
const GROUP: &str = "root:x:0:\nnogroup:x:65534:\n";
/// Accounts from the files above, hosts from the engine's file and then its name server.
const NSSWITCH: &str = "passwd: files\ngroup: files\nhosts: files dns\n";

/// Adds the files and directories that belong to no program.
pub(super) fn fill(tree: &mut Tree) {
    for mount_point in ["dev", "proc", "sys"] {
        tree.directory(Path::new(mount_point), 0o755);
    }
    tree.directory(Path::new("tmp"), 0o1777);
    tree.bytes(Path::new("etc/passwd"), PASSWD);
    tree.bytes(Path::new("etc/group"), GROUP);
    tree.bytes(Path::new("etc/nsswitch.conf"), NSSWITCH);
}
