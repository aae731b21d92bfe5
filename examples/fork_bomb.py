"""A fork bomb. Never run it without a sandbox: it makes a machine unusable.

    das run examples/fork_bomb.py
"""

import os

while True:
    try:
        os.fork()
    except BlockingIOError:
        pass  # It is refused, and tries again.
