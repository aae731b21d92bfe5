# ends: success
# prints: gone with the container
import os

for path in ("/dev/shm", "/dev/mqueue", "/tmp"):
    assert os.listdir(path) == [], path
    open(path + "/left-for-the-next-run", "w").close()
print("gone with the container")
