# flags: --timeout 2
# ends: timeout
import os

while True:
    os.write(2, b"x" * 65536)
