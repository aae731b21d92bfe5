# ends: success
# prints: its own
import os

os.symlink("/proc/1/root/../../../../etc/hostname", "/tmp/link")
outside = ("/proc/1/cwd/../../../../../var/run/docker.sock", "/run/docker.sock", "/var/run/containerd/containerd.sock", "/run/podman/podman.sock")
own = open("/tmp/link").read() == open("/etc/hostname").read()
print("its own" if own and not any(map(os.path.exists, outside)) else "the host's")
