# ends: success
# bytes: 20000
import os

for _ in range(20000):
    os.write(1, b"x")
