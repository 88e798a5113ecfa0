"""A sandbox made by someone who is not root: becomes nobody after its imports, as this Python may lie in a home.

unprivileged.py FOLDER: builds a task's environment, uses it, and prints what it found."""

from __future__ import annotations

import asyncio
import concurrent.futures.thread
import encodings.idna
import json
import os
import sys
import tarfile
from pathlib import Path

from refit.harness.sandbox import Sandbox, SandboxSettings, preflight
from refit.harness.sandbox.build import build
from refit.harness.sandbox.dockerfile import read
from refit.harness.sandbox.transfer import members_of

LOADED = (concurrent.futures.thread, encodings.idna, tarfile)
"""Modules that would otherwise be imported too late."""


async def main(folder: Path) -> dict[str, object]:
    able = await preflight(("bash", "python3"))
    sandbox = await Sandbox.start(SandboxSettings(hidden=(folder,)))
    try:
        image = await build(read(folder / "Dockerfile"), sandbox, folder / "scratch")
        await sandbox.put(members_of(folder / "tests"), "/tests")
        done = await sandbox.run(["bash", "/tests/test.sh"], cwd=image.workdir, env=image.env)
        await sandbox.get("/logs", folder / "logs")
        system = await sandbox.run(
            ["bash", "-c", "touch /usr/bin/x || echo closed; head -1 /etc/shadow || echo unread"]
        )
    finally:
        await sandbox.stop()
    logs = {path.name: path.read_text() for path in (folder / "logs").iterdir()}
    return {
        "rootless": able.is_rootless,
        "code": done.code,
        "out": done.out,
        "logs": logs,
        "system": system.out.split(),
    }


if __name__ == "__main__":
    if os.geteuid() == 0:
        os.chdir("/")
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
