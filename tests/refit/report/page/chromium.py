"""Drives a real Chromium over its DevTools protocol: what a page shows, logs, asks of the network, does on a key."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
KEYS = {"Enter": 13, "Tab": 9, " ": 32, "ArrowDown": 40, "ArrowUp": 38, "Escape": 27}


def installed() -> str | None:
    """The browser's program, where there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def browser(profile: Path) -> Generator[int]:
    """Starts a browser of its own; gives the port of its protocol. Ended by its own process group."""
    program = installed()
    assert program is not None
    process = subprocess.Popen(
        [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield _port(profile / "DevToolsActivePort", process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if file.is_file() and (lines := file.read_text().splitlines()):
            return int(lines[0])
        time.sleep(0.02)
    raise AssertionError("the browser did not open its port")


class Tab:
    """One page in the browser, and everything that it logged, asked for or was refused."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.numbers = itertools.count(1)
        self.waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.events: list[dict[str, Any]] = []
        self.loaded = asyncio.Event()

    async def listen(self) -> None:
        async for message in self.socket:
            data = json.loads(message.data)
            if "id" in data:
                self.waiting.pop(data["id"]).set_result(data)
            else:
                self.events.append(data)
                if data["method"] == "Page.loadEventFired":
                    self.loaded.set()

    async def do(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self.numbers)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        await self.socket.send_json({"id": number, "method": method, "params": params})
        data = await asyncio.wait_for(future, 60)
        assert "error" not in data, data
        return data["result"]

    async def open(self, address: str) -> None:
        self.loaded.clear()
        await self.do("Page.navigate", url=address)
        await asyncio.wait_for(self.loaded.wait(), 60)

    async def js(self, expression: str) -> Any:
        """What an expression gives; a promise is awaited."""
        got = await self.do("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    async def press(self, key: str) -> None:
        code = KEYS[key]
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if kind == "keyDown" and text else {}
            name = "Space" if key == " " else key
            await self.do("Input.dispatchKeyEvent", type=kind, key=key, code=name, windowsVirtualKeyCode=code, **more)

    async def click(self, selector: str) -> None:
        """A real click of the mouse at an element's middle."""
        await self.js(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = await self.js(
            f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            await self.do("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    async def look(self, *, width: int = 1200, height: int = 900, scheme: str = "light") -> None:
        """Sets the window's size and the reader's colour scheme."""
        await self.do(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await self.do("Emulation.setEmulatedMedia", features=features)

    async def picture(self, file: Path, *, is_whole: bool = False) -> None:
        got = await self.do("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)
        file.write_bytes(base64.b64decode(got["data"]))

    def logged(self) -> list[str]:
        """Everything that a developer would see in the console, and every exception."""
        found: list[str] = []
        for event in self.events:
            if event["method"] == "Runtime.consoleAPICalled":
                found.append(str([item.get("value") for item in event["params"]["args"]]))
            elif event["method"] == "Runtime.exceptionThrown":
                found.append(str(event["params"]["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
        return found

    def asked(self) -> list[str]:
        """The addresses that the page asked for, itself and data within it left out."""
        sent = [event["params"]["request"]["url"] for event in self.events if _is_request(event)]
        return [url for url in sent if not url.startswith("data:")]


def _is_request(event: dict[str, Any]) -> bool:
    return event["method"] == "Network.requestWillBeSent"


@asynccontextmanager
async def tab(port: int) -> AsyncGenerator[Tab]:
    """A new page."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as reply:
            target = await reply.json()
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            page = Tab(socket)
            listener = asyncio.create_task(page.listen())
            for domain in ("Page", "Runtime", "Log", "Network"):
                await page.do(f"{domain}.enable")
            await page.look()
            yield page
            await page.do("Page.close")
            listener.cancel()
