# ends: success
# prints: refused at 256
import os

try:
    while True:
        last = os.open("/dev/null", os.O_RDONLY)
except OSError:
    print("refused at", last + 1)
