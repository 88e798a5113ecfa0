"""How messages come to the agent: alike for all methods of a pair, so that no method has its feedback where another one
has a pointer to a file.

An agent that passes its instruction on as an argument or a variable cannot be given a long one; others can. Round 0 of
the pair shows which kind the agent is. For the former, the messages of a round are delivered once all of them are made:
in the instruction if each fits, else all as files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from refit.harness.derived_task import fits_argument


class RoundDelivery:
    """The delivery of one round of a pair."""

    def __init__(self, methods: Iterable[str]) -> None:
        self._awaited = set(methods)
        self._fit = True
        self._all_known = asyncio.Event()

    def announce(self, method: str, message: str | None) -> None:
        """What a method's cell starts with; None for the task alone, or if there will be none."""
        self._awaited.discard(method)
        self._fit = self._fit and (message is None or fits_argument(message))
        if not self._awaited:
            self._all_known.set()

    def stop(self) -> None:
        """Nothing more will be announced."""
        self._all_known.set()

    async def is_file(self) -> bool:
        """Whether the round's messages are delivered as files; known when the last one is announced."""
        await self._all_known.wait()
        return not self._fit
