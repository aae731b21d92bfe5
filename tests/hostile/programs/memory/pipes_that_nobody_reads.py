# flags: --memory 64
# ends: success or out_of_memory
import os

try:
    while True:
        _, end = os.pipe()
        os.set_blocking(end, False)
        try:
            while True:
                os.write(end, bytes(65536))
        except BlockingIOError:
            pass
except OSError as error:
    print(error.strerror)
