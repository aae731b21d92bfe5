# ends: success
# prints: alive
import os, signal

for _ in range(5):
    if os.fork() == 0:
        signal.pause()
try:
    os.kill(-1, signal.SIGKILL)
except ProcessLookupError:
    pass
print("alive")
