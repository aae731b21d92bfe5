# flags: --timeout 2
# ends: timeout or success
import ctypes, os, time

ATTACH = 16
if os.fork() == 0:
    ctypes.CDLL(None).ptrace(ATTACH, 1, 0, 0)
    time.sleep(60)
os.wait()
