"""What all client tests share: how das is started, whose containers there are, what passed."""

import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
WORK = Path(os.environ["DAS_CLIENT_WORK"])
DAS = os.environ["DAS"]
PYTHON = os.environ.get("DAS_INTEGRATION_IMAGE", "python:3.12-slim")
SHELL = os.environ.get("DAS_INTEGRATION_IMAGE_SHELL", "alpine:3.20")

POLICY = {
    "images": {"python": PYTHON, "shell": SHELL},
    "timeout_seconds": 8,
    "memory_mb": 64,
    "max_concurrent": 4,
    # A parked container would look like one that was left.
    "warm": 0,
}

# Starts das as itself, not as a child, and writes down its process id.
EXEC = 'echo $$ >>"$1"; shift; exec "$@"'


class Das:
    """One das that a client is about to start, perhaps with its wire recorded."""

    def __init__(self, name, record=False, **policy):
        self.policy = WORK / f"{name}.policy.json"
        self.policy.write_text(json.dumps(POLICY | policy))
        self.pids = WORK / f"{name}.pids"
        self.pids.touch()
        self.wire = WORK / f"{name}.wire" if record else None

    def command(self):
        das = [DAS, "mcp", "--policy", str(self.policy)]
        command = ["/bin/sh", "-c", EXEC, "sh", str(self.pids), *das]
        if self.wire:
            command = [sys.executable, str(HERE / "tee.py"), str(self.wire), *command]
        return command

    def running(self):
        """Whether any of its processes is still there."""
        return [pid for pid in self.pids.read_text().split() if Path(f"/proc/{pid}").exists()]

    def containers(self, state=None):
        """The names of its containers, in any state or in this one."""
        pids = self.pids.read_text().split()
        listed = subprocess.run(
            ["docker", "ps", "--all", "--filter", "label=docker-agent-sandbox"]
            + (["--filter", f"status={state}"] if state else [])
            + ["--format", '{{.Names}} {{.Label "docker-agent-sandbox.owner"}}'],
            capture_output=True, text=True, check=True, timeout=30,
        )
        # Of others the label may be missing or anything; of das it ends in PID.START.
        lines = [line.split() for line in listed.stdout.splitlines()]
        owned = [(line[0], line[1].split(".")) for line in lines if len(line) == 2]
        return [name for name, owner in owned if len(owner) > 2 and owner[-2] in pids]

    def wait_for_container(self):
        return eventually("a running container", lambda: self.containers("running"))

    def wait_until_empty(self, seconds=10.0):
        eventually("the last container's end", lambda: not self.containers(), seconds)


def eventually(what, answer, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := answer():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s for {what}")


class Results:
    """Counts and prints; the summary is for run.sh."""

    def __init__(self, title):
        self.title, self.passed, self.failed = title, 0, 0

    def passes(self, name):
        self.passed += 1
        print(f"ok   {self.title}: {name}", flush=True)

    def fails(self, name, why):
        self.failed += 1
        print(f"FAIL {self.title}: {name}\n{why}", flush=True)

    def fails_with(self, name, error):
        self.fails(name, "".join(traceback.format_exception(error)))

    def end(self):
        (WORK / "summary").write_text(f"{self.passed} {self.failed}\n")
        sys.exit(1 if self.failed else 0)
