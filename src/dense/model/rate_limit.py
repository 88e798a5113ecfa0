"""How many calls run at once, and how fast they may begin."""

from __future__ import annotations

import asyncio
import time

from dense.model.chat import ChatModel, ChatReply, ChatRequest


class RateLimitedModel:
    """One limit for a whole run: at most `concurrency` calls at a time, and `per_minute` begun, evenly spaced."""

    def __init__(self, inner: ChatModel, concurrency: int, per_minute: float | None = None) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self._inner = inner
        self._slots = asyncio.Semaphore(concurrency)
        self._spacing = 60 / per_minute if per_minute else 0.0
        self._next_start = 0.0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers when its turn has come. A call that waits for its provider keeps its place."""
        async with self._slots:
            if self._spacing:
                start = max(time.monotonic(), self._next_start)
                self._next_start = start + self._spacing
                await asyncio.sleep(start - time.monotonic())
            return await self._inner.complete(request)
