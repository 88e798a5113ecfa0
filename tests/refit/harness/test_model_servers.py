"""Servers of recipients: real processes, which end with us however we end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from dense.errors import DenseError
from refit.harness import Recipient
from refit.harness.model_servers import run_servers

SERVE = """
import http.server, os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[2], "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
print("serving", flush=True)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[2].encode())
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def recipient(name: str, pids: Path) -> Recipient:
    return Recipient(name, "terminus-2", server=(sys.executable, "-c", SERVE, "{port}", str(pids)))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids: list[int]) -> None:
    end = time.monotonic() + 15
    while any(map(alive, pids)):
        assert time.monotonic() < end, f"still there: {[pid for pid in pids if alive(pid)]}"
        time.sleep(0.05)


def test_each_recipient_has_its_own(tmp_path: Path) -> None:
    async def run() -> list[int]:
        others = [recipient(name, tmp_path / name) for name in ("a", "b")]
        async with run_servers([*others, Recipient("none", "oracle")], tmp_path / "logs") as addresses:
            assert sorted(addresses) == ["a", "b"]
            for name, address in addresses.items():
                body = await asyncio.to_thread(lambda url=address: urllib.request.urlopen(url, timeout=10).read())
                assert body.decode() == str(tmp_path / name)
            return [int(pid) for name in addresses for pid in (tmp_path / name).read_text().split()]

    pids = asyncio.run(run())
    assert len(pids) == 4
    wait_until_gone(pids)
    assert "serving" in (tmp_path / "logs" / "server-a.log").read_text()


def test_they_end_with_an_error(tmp_path: Path) -> None:
    async def run() -> None:
        async with run_servers([recipient("a", tmp_path / "a")], tmp_path):
            raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        asyncio.run(run())
    wait_until_gone([int(pid) for pid in (tmp_path / "a").read_text().split()])


KILLED = """
import asyncio, sys
from pathlib import Path
from refit.harness import Recipient
from refit.harness.model_servers import run_servers

async def main():
    folder = Path(sys.argv[1])
    command = (sys.executable, "-c", sys.argv[2], "{port}", str(folder / "pids"))
    async with run_servers([Recipient("a", "terminus-2", server=command)], folder):
        print("up", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def test_they_end_when_we_are_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path), SERVE], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"up\n"
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
        assert all(map(alive, pids))
        os.kill(process.pid, signal.SIGKILL)
    wait_until_gone(pids)


def start(server: tuple[str, ...], folder: Path, patience: float = 30) -> None:
    async def run() -> None:
        async with run_servers([Recipient("a/b", "oracle", server=server)], folder, patience=patience):
            pass

    asyncio.run(run())


def test_why_one_does_not_start_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DenseError, match=r"(?s)recipient 'a/b': its server.*no weights"):
        start((sys.executable, "-c", "import sys; sys.exit('no weights')", "{port}"), tmp_path)
    assert "no weights" in (tmp_path / "server-a-b.log").read_text()
    with pytest.raises(DenseError, match="no-such-program: cannot be started"):
        start(("no-such-program", "{port}"), tmp_path)


def test_one_that_never_answers_is_reported_and_ended(tmp_path: Path) -> None:
    code = "import os, sys, time; open(sys.argv[2], 'w').write(str(os.getpid())); time.sleep(600)"
    with pytest.raises(DenseError, match=r"within 1 s"):
        start((sys.executable, "-c", code, "{port}", str(tmp_path / "pid")), tmp_path, patience=1)
    wait_until_gone([int((tmp_path / "pid").read_text())])


def test_one_that_takes_no_port_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DenseError, match=r"nothing in the command takes the `\{port\}`"):
        start(("serve", "8080"), tmp_path)


def test_a_taken_port_is_tried_again(tmp_path: Path) -> None:
    """The first start says what a server says that comes too late; the second one serves."""
    code = (
        "import pathlib, sys\nmark = pathlib.Path(sys.argv[2] + '.first')\n"
        "if not mark.exists():\n    mark.touch()\n    sys.exit('OSError: [Errno 98] Address already in use')\n"
    )
    start((sys.executable, "-c", code + SERVE, "{port}", str(tmp_path / "pids")), tmp_path)
    wait_until_gone([int(pid) for pid in (tmp_path / "pids").read_text().split()])


def test_one_that_will_not_go_is_killed(tmp_path: Path) -> None:
    code = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVE
    start((sys.executable, "-c", code, "{port}", str(tmp_path / "pids")), tmp_path)
    wait_until_gone([int(pid) for pid in (tmp_path / "pids").read_text().split()])


ENDS = """
import http.server, os, signal, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("out of memory", flush=True)
        os.kill(os.getpid(), signal.SIGKILL) if self.path == "/kill" else os._exit(3)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.mark.parametrize(("path", "code"), [("/exit", 3), ("/kill", 137)])
def test_one_that_ends_is_reported(tmp_path: Path, path: str, code: int) -> None:
    async def run() -> None:
        both = [recipient("a", tmp_path / "pids"), Recipient("b", "nop", server=(sys.executable, "-c", ENDS, "{port}"))]
        async with run_servers(both, tmp_path / "logs") as servers:
            servers.check()
            with pytest.raises(OSError):
                await asyncio.to_thread(urllib.request.urlopen, servers["b"] + path, timeout=10)
            end = time.monotonic() + 10
            while time.monotonic() < end:
                servers.check()
                await asyncio.sleep(0.05)

    with pytest.raises(
        DenseError, match=rf"(?s)recipient 'b': its server has ended, with exit code {code}:.*of memory"
    ):
        asyncio.run(run())


def test_their_addresses_are_a_mapping(tmp_path: Path) -> None:
    async def run() -> None:
        async with run_servers([recipient("a", tmp_path / "pids")], tmp_path) as servers:
            assert list(servers) == ["a"] and len(servers) == 1 and "b" not in servers
            assert dict(servers) == {"a": servers["a"]} and servers["a"].startswith("http://127.0.0.1:")
        servers.check()  # one that we have ended ourselves is no complaint

    asyncio.run(run())
