"""What every client must see of das, whatever its SDK and its version of the protocol.

A check takes a peer, which has `version`, `list_tools`, `call`, `unknown_tool`, `abandon` and
`das`; each SDK has its own.
"""

import anyio

from common import eventually

HOLD = "import time; time.sleep(60)"

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


@check
async def the_tool_is_listed(peer):
    (tool,) = await peer.list_tools()
    assert tool["name"] == "run_code", tool
    assert tool["inputSchema"]["required"] == ["code"], tool
    assert len(tool["description"].encode()) <= 2048
    assert tool["outputSchema"]["type"] == "object", tool


@check
async def a_program_succeeds(peer):
    result = await peer.call(code="print(2 ** 64)")
    assert not result.is_error and result.text == "18446744073709551616\n", result
    assert result.facts["verdict"] == "success" and result.facts["exit_code"] == 0, result
    assert result.facts["stdout"] == result.text, result


@check
async def a_program_fails_by_itself(peer):
    result = await peer.call(code="import nosuchmodule")
    assert result.is_error and result.facts["verdict"] == "error", result
    assert "ModuleNotFoundError" in result.text and "hint: " in result.text, result


@check
async def arguments_are_forgiven(peer):
    result = await peer.call(code="```sh\necho $((6 * 7))\n```", timeout_seconds="600", extra=None)
    assert result.facts["stdout"] == "42\n", result
    assert "fence" in result.facts["hint"] and "reduced" in result.facts["hint"], result


@check
async def bad_arguments_are_explained(peer):
    for arguments in ({}, {"code": 1}, {"code": "1", "language": "cobol"}):
        result = await peer.call(**arguments)
        assert result.is_error and result.facts["verdict"] == "invalid_input", result
        assert result.facts["hint"] in result.text, result


@check
async def an_unknown_tool_is_a_protocol_error(peer):
    assert await peer.unknown_tool() == -32602


@check
async def a_timeout_is_told(peer):
    result = await peer.call(code="print('before', flush=True)\nwhile True: pass", timeout_seconds=3)
    assert result.is_error and result.facts["verdict"] == "timeout", result
    assert result.facts["timed_out"] is True and result.facts["stdout"] == "before\n", result


@check
async def running_out_of_memory_is_told(peer):
    result = await peer.call(code="x = bytearray(1 << 30)\nx[:] = b'y' * len(x)")
    assert result.is_error and result.facts["verdict"] == "out_of_memory", result
    assert "64 MiB" in result.facts["hint"], result


@check
async def a_flood_is_bounded(peer):
    result = await peer.call(code="import sys\nfor i in range(200000): print(i); print(i, file=sys.stderr)")
    assert result.facts["truncated"] is True, result.facts["verdict"]
    assert "omitted" in result.facts["stdout"] and len(result.text) < 200_000, len(result.text)


@check
async def what_would_break_the_wire_does_not(peer):
    code = r"import sys; sys.stdout.buffer.write('a\u2028b\x1b[2J\0'.encode() + b'\xff\r\n'); print('end')"
    result = await peer.call(code=code)
    assert result.facts["stdout"] == "a\u2028b\u2400\ufffd\nend\n", result


@check
async def progress_comes_while_it_runs(peer):
    seen = []
    result = await peer.call(on_progress=seen.append, code="import time; time.sleep(2.5); print('x')")
    assert result.facts["stdout"] == "x\n", result
    assert seen and seen == sorted(set(seen)), seen


@check
async def calls_run_at_once_and_do_not_mix(peer):
    results = {}

    async def call(number):
        code = f"import time; time.sleep(0.5); print({number})"
        results[number] = await peer.call(code=code)

    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(call, number)
    assert [results[n].text for n in range(6)] == [f"{n}\n" for n in range(6)], results


@check
async def a_cancelled_call_is_killed(peer):
    await peer.abandon(HOLD)
    await anyio.to_thread.run_sync(peer.das.wait_until_empty, 3.0)
    result = await peer.call(code="print('still here')")
    assert result.text == "still here\n", result


class Result:
    def __init__(self, text, facts, is_error):
        self.text, self.facts, self.is_error = text, facts, is_error

    def __repr__(self):
        return f"Result(is_error={self.is_error}, facts={self.facts}, text={self.text!r:.2000})"


async def run(results, open_peer, das):
    """Runs all checks in one session, then closes it."""
    async with open_peer(das) as peer:
        print(f"     version {peer.version}", flush=True)
        for function in CHECKS:
            try:
                with anyio.fail_after(40):
                    await function(peer)
                results.passes(function.__name__)
            except Exception as error:  # noqa: BLE001 - each check fails for itself
                results.fails_with(function.__name__, error)
    after_the_end(results, "the_session_ends", das)


async def close_in_mid_run(results, open_peer, das):
    """Closes the session as its SDK does, with calls in flight."""
    async with open_peer(das) as peer:
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(peer.ignore_errors, HOLD)
            await anyio.to_thread.run_sync(running, das, 3)
            tasks.cancel_scope.cancel()
    after_the_end(results, "closing_in_mid_run_leaves_nothing", das)


def running(das, count):
    eventually(f"{count} containers", lambda: len(das.containers("running")) >= count)


def after_the_end(results, name, das):
    try:
        eventually("das to end", lambda: not das.running(), 5)
        das.wait_until_empty(3.0)
        results.passes(name)
    except AssertionError as error:
        results.fails_with(name, error)
