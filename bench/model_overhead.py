"""CPU of the model client per call, beside raw aiohttp in the same run, against a server in another process.

    python bench/model_overhead.py [CALLS]

Fails where our own code takes more than 3 ms a call beyond raw aiohttp.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from dense.model import CallLimits, ChatRequest, GivenPrices, Message, open_model

LOOPBACK = Path(__file__).parents[1] / "tests" / "model" / "loopback.py"
CONCURRENCY = 16
LIMIT_MS = 3.0
PROMPT = "The agent ran a command and saw its output. " * 200
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 200}, "label": {"enum": [0, -1, -2]}},
    "required": ["reason", "label"],
}


def question(number: int) -> ChatRequest:
    """A question of the size that judgements have."""
    stable = Message("user", PROMPT, is_stable=True)
    return ChatRequest("You judge.", (stable, Message("user", f"Step {number}?")), SCHEMA, label="bench")


async def measured(calls: int, one: Callable[[int], Awaitable[object]]) -> float:
    """Milliseconds of CPU per call, with so many at once as a run has."""
    slots = asyncio.Semaphore(CONCURRENCY)

    async def limited(number: int) -> None:
        async with slots:
            await one(number)

    started = time.process_time()
    await asyncio.gather(*(limited(number) for number in range(calls)))
    return 1000 * (time.process_time() - started) / calls


async def raw(url: str, calls: int) -> float:
    """The least that a call takes: the same bodies over the same library."""
    messages = [{"role": "system", "content": "You judge."}, {"role": "user", "content": PROMPT}]
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(number: int) -> Any:
            body = msgspec.json.encode({"model": "m", "messages": messages, "max_tokens": number})
            headers = {"Content-Type": "application/json"}
            async with session.post(f"{url}/chat/completions", data=body, headers=headers) as response:
                return msgspec.json.decode(await response.read())

        return await measured(calls, one)


async def ours(url: str, calls: int, **options: Any) -> float:
    """The whole stack: `open_model` and what it wraps."""
    options = {"base_url": url, "concurrency": CONCURRENCY, "environment": {"OPENAI_API_KEY": "k"}, **options}
    async with open_model("openai/gpt-5.5", **options) as model:
        return await measured(calls, lambda number: model.complete(question(number)))


def main() -> int:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([sys.executable, str(LOOPBACK), "0.005"], stdin=-1, stdout=-1, text=True) as server,
    ):
        assert server.stdout is not None and server.stdin is not None
        url = server.stdout.readline().strip()
        cache = Path(folder) / "cache.sqlite"
        asyncio.run(raw(url, calls // 4))
        base = asyncio.run(raw(url, calls))
        rows = {
            "raw aiohttp": base,
            "dense": asyncio.run(ours(url, calls)),
            "dense, spending limit": asyncio.run(ours(url, calls, limits=CallLimits(max_usd=1e6))),
            "dense, given prices": asyncio.run(ours(url, calls, prices=GivenPrices(1, 1))),
            "dense, cache, asked": asyncio.run(ours(url, calls, cache=cache)),
            "dense, cache, hits": asyncio.run(ours(url, calls, cache=cache)),
        }
        server.stdin.close()
    for name, ms in rows.items():
        print(f"{name:24} {ms:6.2f} ms CPU a call  {ms - base:+6.2f}")
    return int(max(rows.values()) - base > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
