# flags: --timeout 2 --memory 512
# ends: timeout
import threading


def spin():
    while True:
        pass


for _ in range(32):
    threading.Thread(target=spin).start()
