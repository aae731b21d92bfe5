# ends: success
# prints: refused
import os

opened = []
for path, mode in (
    ("/proc/sysrq-trigger", "w"), ("/proc/kcore", "rb"), ("/proc/sys/kernel/core_pattern", "w"),
    ("/sys/kernel/uevent_helper", "w"), ("/sys/fs/cgroup/release_agent", "w"),
    ("/proc/sys/vm/drop_caches", "w"), ("/sys/power/state", "w"), ("/dev/kmsg", "w"),
):
    try:
        with open(path, mode) as file:
            # Masked files can be opened, and are empty.
            if mode == "rb" and not file.read(1):
                continue
        opened.append(path)
    except OSError:
        pass
print(*opened or ["refused"])
