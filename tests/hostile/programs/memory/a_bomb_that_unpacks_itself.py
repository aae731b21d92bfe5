# flags: --memory 64
# ends: out_of_memory
import zlib

packer = zlib.compressobj(9)
packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
print(len(zlib.decompress(packed)))
