# ends: success
# bytes: 100000000
import os

rest = 100_000_000
while rest:
    rest -= os.write(1, b"x" * min(rest, 1 << 20))
