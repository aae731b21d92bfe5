# flags: --timeout 3
# ends: success or error 1 or timeout
import os

for _ in range(20_000):
    os.mkdir("d")
    os.chdir("d")
