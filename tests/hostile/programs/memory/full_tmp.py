# flags: --tmpfs 8
# ends: error 1
with open("/tmp/hoard", "wb") as file:
    while True:
        file.write(bytes(1 << 20))
