# flags: --memory 64
# ends: out_of_memory
hoard = []
while True:
    hoard.append(bytearray(1 << 20))
