# flags: --timeout 1
# ends: timeout
import os

for descriptor in range(3):
    os.close(descriptor)
while True:
    pass
