"""Takes all the memory that it can get. Never run it without a sandbox.

    das run examples/memory_hog.py
"""

hoard = []
while True:
    hoard.append(bytearray(10 << 20))
    print(f"{len(hoard) * 10} MiB")
