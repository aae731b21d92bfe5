# ends: success
# prints: done
import fcntl, os

for size in (1 << 20, 4096, 1 << 30):
    try:
        fcntl.fcntl(1, 1031, size)
    except OSError:
        pass
    os.write(1, b"x" * 100_000 + b"\n")
print("done")
