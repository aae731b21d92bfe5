# flags: --timeout 2 --memory 512
# ends: timeout
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
