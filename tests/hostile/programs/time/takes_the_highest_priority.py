# ends: success
# prints: refused
import os

taken = []
for name, take in (
    ("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)),
    ("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))),
):
    try:
        take()
        taken.append(name)
    except OSError:
        pass
print(*taken or ["refused"])
