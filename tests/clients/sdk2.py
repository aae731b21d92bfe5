"""The official Python SDK, 2.x: `sdk2.py MODE`, or `sdk2.py MODE hold` for a client to be killed."""

import signal
import subprocess
import sys
from contextlib import asynccontextmanager

import anyio
from mcp import Client, MCPError, StdioServerParameters

import checks
from common import Das, Results

MODE = sys.argv[1]


class Peer:
    def __init__(self, das, client):
        self.das, self.client, self.version = das, client, client.protocol_version

    async def list_tools(self):
        listed = await self.client.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]

    async def call(self, on_progress=None, **arguments):
        async def heard(progress, total, message):
            on_progress(progress)

        result = await self.client.call_tool(
            "run_code", arguments, progress_callback=heard if on_progress else None
        )
        return checks.Result(result.content[0].text, result.structured_content, result.is_error)

    async def unknown_tool(self):
        try:
            await self.client.call_tool("nosuchtool", {})
        except MCPError as error:
            return error.code
        return None

    async def abandon(self, code):
        """This SDK tells the server when its caller gives up."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.ignore_errors, code)
            await anyio.to_thread.run_sync(self.das.wait_for_container)
            tasks.cancel_scope.cancel()

    async def ignore_errors(self, code):
        try:
            await self.call(code=code)
        except MCPError:
            pass


@asynccontextmanager
async def open_peer(das):
    command, *args = das.command()
    server = StdioServerParameters(command=command, args=args)
    async with Client(server, mode=MODE, read_timeout_seconds=30) as client:
        yield Peer(das, client)


async def subscribe(results, das):
    """A subscription is acknowledged and open until its client closes it."""
    async with open_peer(das) as peer, peer.client.listen(tools_list_changed=True):
        result = await peer.call(code="print('beside it')")
        assert result.text == "beside it\n", result
    checks.after_the_end(results, "a_subscription_is_held", das)


async def give_up(results, das):
    """The client's own time limit cancels the call."""
    async with open_peer(das) as peer:
        try:
            await peer.client.call_tool("run_code", {"code": checks.HOLD}, read_timeout_seconds=1.5)
        except (MCPError, TimeoutError):
            pass
        await anyio.to_thread.run_sync(das.wait_until_empty, 3.0)
        assert (await peer.call(code="print(1)")).text == "1\n"
    checks.after_the_end(results, "a_client_that_gives_up_cancels", das)


async def hold(das):
    async with open_peer(das) as peer:
        await peer.ignore_errors(checks.HOLD)


def killed_in_mid_run(results):
    """A client that is killed cannot close anything."""
    das = Das(f"killed-{MODE}")
    client = subprocess.Popen([sys.executable, __file__, MODE, "hold"])
    das.wait_for_container()
    client.send_signal(signal.SIGKILL)
    client.wait()
    checks.after_the_end(results, "killing_the_client_in_mid_run_leaves_nothing", das)


def main():
    if sys.argv[2:] == ["hold"]:
        return anyio.run(hold, Das(f"killed-{MODE}"))
    results = Results(f"mcp 2.3, {MODE}")
    anyio.run(checks.run, results, open_peer, Das(f"sdk2-{MODE}", record=True))
    extra = [give_up] if MODE == "legacy" else [give_up, subscribe]
    for number, function in enumerate(extra):
        try:
            das = Das(f"sdk2-{MODE}-{number}", record=True)
            anyio.run(function, results, das)
        except Exception as error:  # noqa: BLE001 - each fails for itself
            results.fails_with(function.__name__, error)
    anyio.run(checks.close_in_mid_run, results, open_peer, Das(f"sdk2-{MODE}-close"))
    killed_in_mid_run(results)
    results.end()


if __name__ == "__main__":
    main()
