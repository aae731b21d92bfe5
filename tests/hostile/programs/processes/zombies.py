# ends: success
# prints: refused
import os

for _ in range(10_000):
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        print("refused")
        break
