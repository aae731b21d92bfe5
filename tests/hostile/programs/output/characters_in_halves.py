# ends: success
# prints: €€€
import os, time

for byte in "€€€\n".encode():
    os.write(1, bytes([byte]))
    time.sleep(0.05)
