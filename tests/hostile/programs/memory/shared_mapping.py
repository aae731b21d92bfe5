# flags: --memory 64
# ends: out_of_memory
import mmap

mapping = mmap.mmap(-1, 1 << 30)
for offset in range(0, 1 << 30, 4096):
    mapping[offset] = 1
