"""Packs das and starts it from the bundle, as a client would that installs it."""

import json
import subprocess
import sys
import zipfile

from common import DAS, HERE, WORK, Results

PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def pack():
    out = WORK / "dist"
    pack = [sys.executable, str(HERE.parent.parent / "mcpb" / "pack.py"), DAS, str(out)]
    subprocess.run(pack, check=True, capture_output=True)
    return out


def starts(out):
    """The bundle's command answers, with every option left empty."""
    (bundle,) = out.glob("das-mcp-*.mcpb")
    installed = WORK / "installed"
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(installed)
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
    manifest = json.loads((installed / "manifest.json").read_text())
    start = manifest["server"]["mcp_config"]
    entry = installed / manifest["server"]["entry_point"]
    assert modes[manifest["server"]["entry_point"]] == 0o755, modes
    entry.chmod(0o755)
    command = [start["command"].replace("${__dirname}", str(installed)), *start["args"]]
    env = {name: "" for name in start["env"]} | {"PATH": "/usr/bin:/bin", "HOME": str(WORK)}
    answered = subprocess.run(command, input=PING, env=env, capture_output=True, text=True, timeout=20)
    assert json.loads(answered.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}, answered


def is_announced(out):
    """The registry is told of the bundle that was made."""
    (bundle,) = out.glob("das-mcp-*.mcpb")
    (package,) = json.loads((out / "server.json").read_text())["packages"]
    assert package["registryType"] == "mcpb" and package["transport"] == {"type": "stdio"}
    assert package["identifier"].endswith(f"/{bundle.name}") and "mcp" in package["identifier"]
    digest = subprocess.run(["sha256sum", str(bundle)], capture_output=True, text=True, check=True)
    assert package["fileSha256"] == digest.stdout.split()[0], package


def main():
    results = Results("bundle")
    out = pack()
    for function in (starts, is_announced):
        try:
            function(out)
            results.passes(function.__name__)
        except Exception as error:  # noqa: BLE001 - each fails for itself
            results.fails_with(function.__name__, error)
    results.end()


if __name__ == "__main__":
    main()
