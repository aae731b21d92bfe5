# ends: success
# prints: dockerd
import ctypes

ctypes.CDLL(None).prctl(15, b"dockerd", 0, 0, 0)
print(open("/proc/self/comm").read().strip())
