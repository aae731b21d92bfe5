# flags: --memory 32
# ends: out_of_memory
with open("/dev/shm/hoard", "wb") as file:
    while True:
        file.write(bytes(1 << 20))
