"""A provider on 127.0.0.1 that misbehaves as it is told. Runs on a thread of its own, so that other processes reach it.

python tests/model/loopback.py LATENCY    serves answers after so many seconds until it is ended; prints its URL
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

USABLE = '{"root": {"summary": "The attempt stopped.", "why": "a1", "coherence": "coherent", "completion": "unknown"}}'
"""An answer about any trace of which the analyst can use something."""

Step = Callable[[web.Request], Awaitable[web.StreamResponse]]
"""One behaviour: what the server does with one request."""


@dataclass
class Received:
    """A request, as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float = field(default_factory=time.monotonic)

    @property
    def question(self) -> str:
        """The text of the last message."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else content[-1]["text"]


class Loopback:
    """The server. Steps are taken in order, one for each request; after the last, `default` is taken."""

    def __init__(self, *steps: Step, default: Step | None = None) -> None:
        self.received: list[Received] = []
        self.most_at_once = 0
        self._at_once = 0
        self._steps = list(steps)
        self._default = default or ok()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.root = ""

    @property
    def url(self) -> str:
        """The base URL of the OpenAI format."""
        return f"{self.root}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.root = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _end(self) -> None:
        await self._runner.cleanup()
        waiting = asyncio.all_tasks() - {asyncio.current_task()}  # answers that nobody waits for any more
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.received.append(Received(request.path, dict(request.headers), await request.json()))
        step = self._steps.pop(0) if self._steps else self._default
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await step(request)
        finally:
            self._at_once -= 1


def said(text: str, finish: str = "stop", usage: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A response in OpenAI's format."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text, **more}, "finish_reason": finish}],
        "usage": usage or {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def json_step(body: Any, status: int = 200, delay: float = 0, **headers: str) -> Step:
    """Answers with this JSON."""

    async def step(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(delay)
        return web.json_response(body, status=status, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return step


def ok(text: str = "fine", delay: float = 0, **more: Any) -> Step:
    """Answers well."""
    return json_step(said(text, **more), delay=delay)


def failing(status: int, message: str = "no", code: str | None = None, **headers: str) -> Step:
    """Answers with an error."""
    return json_step({"error": {"message": message, "type": "error", "code": code}}, status, 0, **headers)


def text_step(text: str, status: int = 200, content_type: str = "text/html") -> Step:
    """Answers with any text."""

    async def step(request: web.Request) -> web.StreamResponse:
        return web.Response(text=text, status=status, content_type=content_type)

    return step


async def cut(request: web.Request) -> web.StreamResponse:
    """Breaks the connection in the middle of the body."""
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.close()
    return response


async def hung_up(request: web.Request) -> web.StreamResponse:
    """Breaks the connection without a word."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


if __name__ == "__main__":
    with Loopback(default=ok('{"ok": true}', delay=float(sys.argv[1]))) as server:
        print(server.url, flush=True)
        sys.stdin.read()
