"""A client that dies while another process holds das's input open: das must not stay."""

import os
import signal
import subprocess
import time

from common import Das, Results, eventually

# das takes this long to learn who its client is, and a second more to look again.
SETTLED = 6.5


def main():
    results = Results("parent")
    das = Das("parent")
    ours, theirs = os.pipe()
    # The shell stays das's parent, and is what dies.
    command = ["/bin/sh", "-c", '"$@"; :', "sh", *das.command()]
    client = subprocess.Popen(command, stdin=ours, start_new_session=True)
    try:
        eventually("das to start", lambda: das.pids.read_text())
        time.sleep(SETTLED)
        assert das.running(), "das ended by itself"
        client.send_signal(signal.SIGKILL)
        client.wait()
        eventually("das to end", lambda: not das.running(), 4)
        results.passes("das ends with its client although its input stays open")
    except AssertionError as error:
        results.fails_with("das ends with its client although its input stays open", error)
    os.close(theirs)
    results.end()


if __name__ == "__main__":
    main()
