"""Stands between a client and das and records each line: tee.py RECORD COMMAND..."""

import json
import subprocess
import sys
import threading

record = open(sys.argv[1], "a", encoding="utf-8")
lock = threading.Lock()
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def copy(name, source, target):
    for line in source:
        with lock:
            # What is not UTF-8 is recorded so that it cannot pass for it.
            text = line.decode("utf-8", errors="surrogateescape")
            record.write(json.dumps({"from": name, "line": text}) + "\n")
            record.flush()
        try:
            target.write(line)
            target.flush()
        except OSError:
            break
    try:
        target.close()
    except OSError:
        pass


threading.Thread(target=copy, args=("client", sys.stdin.buffer, child.stdin), daemon=True).start()
copy("server", child.stdout, sys.stdout.buffer)
sys.exit(child.wait())
