"""Checks each line that das sent in the recorded sessions against the schema of its version."""

import json

from mcp_types.methods import parse_server_notification, validate_server_result

from common import WORK, Results

META_VERSION = "io.modelcontextprotocol/protocolVersion"


class Session:
    """Follows one session, line by line."""

    def __init__(self):
        self.negotiated = "2025-11-25"
        self.asked = {}
        self.cancelled = set()
        self.progress = {}

    def client(self, line):
        message = json.loads(line)
        params = message.get("params") or {}
        if message.get("method") == "notifications/cancelled":
            self.cancelled.add(json.dumps(params["requestId"]))
        if "id" not in message or "method" not in message:
            return
        meta = params.get("_meta") or {}
        version = meta.get(META_VERSION, self.negotiated)
        self.asked[json.dumps(message["id"])] = (message["method"], version, meta)
        if "progressToken" in meta:
            self.progress[json.dumps(meta["progressToken"])] = (0, version)

    def server(self, line):
        line.encode("utf-8")  # Fails on what was not UTF-8.
        assert len(line) < 10 * 1024 * 1024 and "\u2028" not in line and "\u2029" not in line
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            self.notification(message)
        else:
            self.response(message)

    def notification(self, message):
        assert "id" not in message, "das sends no requests"
        version = self.negotiated
        if message["method"] == "notifications/progress":
            token = json.dumps(message["params"]["progressToken"])
            last, version = self.progress[token]
            assert message["params"]["progress"] > last, "progress must grow"
            self.progress[token] = (message["params"]["progress"], version)
        if message["method"].startswith("notifications/subscriptions/"):
            version = "2026-07-28"
        parse_server_notification(message["method"], version, message["params"])

    def response(self, message):
        request_id = json.dumps(message["id"])
        method, version, meta = self.asked.pop(request_id)
        # An answer and a cancellation may cross; an answer after das had the cancellation may not.
        assert request_id not in self.cancelled, "an answer to what was cancelled"
        self.progress.pop(json.dumps(meta.get("progressToken")), None)
        if "error" in message:
            assert isinstance(message["error"]["code"], int) and message["error"]["message"]
            return
        validate_server_result(method, version, message["result"])
        if method == "initialize":
            self.negotiated = message["result"]["protocolVersion"]


def main():
    results = Results("wire")
    for path in sorted(WORK.glob("*.wire")):
        session, checked = Session(), 0
        try:
            for recorded in map(json.loads, path.read_text().splitlines()):
                getattr(session, recorded["from"])(recorded["line"])
                checked += recorded["from"] == "server"
            assert checked >= 2, f"only {checked} lines"
            results.passes(f"{path.stem}: {checked} lines of das")
        except Exception as error:  # noqa: BLE001 - each session fails for itself
            results.fails_with(path.stem, error)
    if not results.passed and not results.failed:
        results.fails("recordings", "there are none")
    results.end()


if __name__ == "__main__":
    main()
