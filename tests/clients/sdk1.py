"""The official Python SDK, 1.x: `sdk1.py`, or `sdk1.py hold` for a client that is to be killed."""

import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

import checks
from common import Das, Results


class Peer:
    def __init__(self, das, session, version):
        self.das, self.session, self.version = das, session, version

    async def list_tools(self):
        listed = await self.session.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]

    async def call(self, on_progress=None, **arguments):
        async def heard(progress, total, message):
            on_progress(progress)

        result = await self.session.call_tool(
            "run_code", arguments, progress_callback=heard if on_progress else None
        )
        return checks.Result(result.content[0].text, result.structuredContent, result.isError)

    async def unknown_tool(self):
        try:
            await self.session.call_tool("nosuchtool", {})
        except McpError as error:
            return error.error.code
        return None

    async def abandon(self, code):
        """This SDK cancels nothing by itself, so the notification is sent by hand."""
        request_id = self.session._request_id
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.ignore_errors, code)
            await anyio.to_thread.run_sync(self.das.wait_for_container)
            params = types.CancelledNotificationParams(requestId=request_id)
            cancelled = types.CancelledNotification(params=params)
            await self.session.send_notification(types.ClientNotification(cancelled))
            tasks.cancel_scope.cancel()

    async def ignore_errors(self, code):
        try:
            await self.call(code=code)
        except McpError:
            pass


@asynccontextmanager
async def open_peer(das):
    command, *args = das.command()
    async with stdio_client(StdioServerParameters(command=command, args=args)) as streams:
        async with ClientSession(*streams, read_timeout_seconds=timedelta(seconds=30)) as session:
            initialized = await session.initialize()
            yield Peer(das, session, initialized.protocolVersion)


async def hold(das):
    async with open_peer(das) as peer:
        await peer.ignore_errors(checks.HOLD)


def killed_in_mid_run(results):
    """A client that is killed cannot close anything."""
    das = Das("killed")
    client = subprocess.Popen([sys.executable, __file__, "hold"])
    das.wait_for_container()
    client.send_signal(signal.SIGKILL)
    client.wait()
    checks.after_the_end(results, "killing_the_client_in_mid_run_leaves_nothing", das)


def main():
    if sys.argv[1:] == ["hold"]:
        return anyio.run(hold, Das("killed"))
    results = Results("mcp 1.30")
    anyio.run(checks.run, results, open_peer, Das("sdk1", record=True))
    anyio.run(checks.close_in_mid_run, results, open_peer, Das("sdk1-close"))
    killed_in_mid_run(results)
    results.end()


if __name__ == "__main__":
    main()
