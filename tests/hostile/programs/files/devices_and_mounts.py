# ends: success
# prints: refused
import ctypes, os, stat

libc = ctypes.CDLL(None, use_errno=True)
done = []
try:
    os.mknod("/tmp/disk", stat.S_IFBLK | 0o666, os.makedev(8, 0))
    done.append("device")
except OSError:
    pass
for name, call in (
    ("remount", lambda: libc.mount(b"none", b"/", None, 32, None)),
    ("tmpfs", lambda: libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None)),
    ("namespace", lambda: libc.unshare(0x10000000)),
    ("root", lambda: libc.chroot(b"/tmp")),
    ("host name", lambda: libc.sethostname(b"owned", 5)),
):
    if call() == 0:
        done.append(name)
print(*done or ["refused"])
