# ends: success
# prints: /dev/mqueue /dev/shm /tmp
import os

writable = set()
for root in ("/", "/etc", "/usr/bin", "/root", "/home", "/var/tmp", "/run", "/dev", "/dev/shm", "/dev/mqueue", "/proc", "/sys", "/tmp"):
    try:
        path = os.path.join(root, "written")
        open(path, "w").close()
        writable.add(root)
    except OSError:
        pass
print(*sorted(writable))
