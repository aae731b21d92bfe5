# flags: --memory 512
# ends: success
# prints: refused
import os, time

for _ in range(10_000):
    try:
        if os.fork() == 0:
            time.sleep(3600)
    except OSError:
        print("refused")
        break
