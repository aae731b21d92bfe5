# flags: --memory 512
# ends: success
# prints: refused
import os, threading, time

for _ in range(10_000):
    try:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    except RuntimeError:
        print("refused", flush=True)
        os._exit(0)
