# ends: success
# prints: 65534 65534
import os

for become in (os.setuid, os.setgid, os.setreuid, os.setresuid):
    try:
        become(*[0] * (1 if become in (os.setuid, os.setgid) else 2 if become is os.setreuid else 3))
    except OSError:
        pass
try:
    os.setgroups([0])
except OSError:
    pass
print(os.getuid(), os.geteuid())
