# flags: --memory 64 --timeout 20
# ends: out_of_memory
import os

for _ in range(8):
    if os.fork() == 0:
        break
hoard = []
while True:
    hoard.append(bytearray(1 << 20))
