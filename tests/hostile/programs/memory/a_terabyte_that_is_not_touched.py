# ends: success
# prints: mapped
import mmap

mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
print("mapped")
