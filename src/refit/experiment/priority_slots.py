"""So many at a time, and first those whose chain is furthest: what is begun is finished before more is begun."""

from __future__ import annotations

import heapq
from asyncio import Future, get_running_loop
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count


class PrioritySlots:
    """A semaphore with an order."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: list[tuple[int, int, Future[None]]] = []
        self._order = count()

    @asynccontextmanager
    async def taken(self, priority: int) -> AsyncGenerator[None]:
        """Waits for a slot and holds it; a lower priority comes first, and among equals who came first."""
        await self._take(priority)
        try:
            yield
        finally:
            self._give()

    async def _take(self, priority: int) -> None:
        if self._free:
            self._free -= 1
            return
        turn: Future[None] = get_running_loop().create_future()
        heapq.heappush(self._waiting, (priority, next(self._order), turn))
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._give()  # it was our turn, and we are gone
            raise

    def _give(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
