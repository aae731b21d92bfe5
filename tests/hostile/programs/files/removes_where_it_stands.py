# ends: success
# prints: done
import os, shutil

os.mkdir("/tmp/here")
os.chdir("/tmp/here")
os.rmdir("/tmp/here")
for path in ("/tmp", "/dev", "/", "/proc"):
    shutil.rmtree(path, ignore_errors=True)
print("done")
