# ends: success
# prints: all of it
import fcntl, os

flags = fcntl.fcntl(1, fcntl.F_GETFL)
fcntl.fcntl(1, fcntl.F_SETFL, flags | os.O_NONBLOCK)
for _ in range(1000):
    try:
        os.write(1, b"x" * 4096)
    except BlockingIOError:
        pass
fcntl.fcntl(1, fcntl.F_SETFL, flags)
print("\nall of it")
