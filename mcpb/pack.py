#!/usr/bin/env python3
"""Packs a built das into an MCPB bundle, and writes the server.json that announces it.

    mcpb/pack.py target/release/das dist

makes dist/das-mcp-SYSTEM-MACHINE.mcpb and dist/server.json. The bundle goes to the release of
this version; then `mcp-publisher publish` in dist.
"""

import argparse
import hashlib
import json
import platform
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# One date for all files, so that equal contents make equal bundles.
DATE = (1980, 1, 1, 0, 0, 0)


def bundle(binary, system):
    """The contents of the bundle, by name: the manifest names the one system it is for."""
    manifest = json.loads((ROOT / "mcpb" / "manifest.json").read_text(encoding="utf-8"))
    manifest["compatibility"]["platforms"] = [system]
    text = json.dumps(manifest, indent=2) + "\n"
    return {
        "manifest.json": (text.encode(), 0o644),
        "LICENSE": ((ROOT / "LICENSE").read_bytes(), 0o644),
        manifest["server"]["entry_point"]: (binary.read_bytes(), 0o755),
    }


def write(path, contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, mode) in contents.items():
            info = zipfile.ZipInfo(name, DATE)
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)


def announce(path):
    """What the registry is told: where the bundle is, and what it must be."""
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    releases = f"{server['repository']['url']}/releases/download/v{server['version']}"
    server["packages"] = [
        {
            "registryType": "mcpb",
            "identifier": f"{releases}/{path.name}",
            "fileSha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "transport": {"type": "stdio"},
            "environmentVariables": [
                {
                    "name": "DAS_POLICY",
                    "description": "A JSON file with limits, images and languages",
                    "format": "filepath",
                },
                {"name": "DOCKER_HOST", "description": "Where the engine listens"},
            ],
        }
    ]
    return server


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path, help="a das built for this system")
    parser.add_argument("out", type=Path, help="the directory to write to")
    arguments = parser.parse_args()
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(machine, machine)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"das-mcp-{system}-{machine}.mcpb"
    write(path, bundle(arguments.binary, system))
    server = json.dumps(announce(path), indent=2) + "\n"
    (arguments.out / "server.json").write_text(server, encoding="utf-8")
    print(f"{path}\n{arguments.out / 'server.json'}")


if __name__ == "__main__":
    main()
