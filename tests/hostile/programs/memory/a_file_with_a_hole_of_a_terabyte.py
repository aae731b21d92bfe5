# ends: success or error 1
with open("/tmp/hole", "wb") as file:
    file.seek(1 << 40)
    file.write(b"x")
