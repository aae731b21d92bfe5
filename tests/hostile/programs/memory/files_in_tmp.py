# flags: --memory 64 --tmpfs 512
# ends: out_of_memory
with open("/tmp/hoard", "wb") as file:
    while True:
        file.write(bytes(1 << 20))
