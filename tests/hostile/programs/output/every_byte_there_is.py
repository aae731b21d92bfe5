# ends: success
# bytes: 65536
import os

os.write(1, bytes(range(256)) * 256)
os.write(2, bytes(range(255, -1, -1)) * 256)
