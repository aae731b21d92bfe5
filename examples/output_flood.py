"""Prints 100 MB on each of its two streams.

    das run examples/output_flood.py > kept.txt
"""

import sys
import threading


def flood(stream, text):
    for _ in range(1000):
        stream.write(text * 1000)


floods = [
    threading.Thread(target=flood, args=(stream, f"{name:99}\n"))
    for stream, name in [(sys.stdout, "out"), (sys.stderr, "err")]
]
for thread in floods:
    thread.start()
for thread in floods:
    thread.join()
