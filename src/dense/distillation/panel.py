"""Asking, with the one corrective call and a record of everything that had to be made up.

Exactly one place decides that a reply is unusable. What is done instead (the fallback) is the asker's business; that it
was done stands in the record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from msgspec import Struct

from dense.analyst.answers import Answer, BadAnswer, parse
from dense.analyst.questions import Analyst, AnyQuestion, Correction
from dense.errors import AnalystFailed


async def together[T](work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All of these, concurrently, in their own order. If one raises, the others are cancelled."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(piece) for piece in work]
    return [task.result() for task in tasks]


class Asked(Struct, frozen=True, omit_defaults=True):
    """One question of a distillation and what became of it."""

    key: str
    """The question's name."""
    attempts: int
    """How often it was asked."""
    seconds: float
    """How long that took, waiting included."""
    problems: tuple[str, ...] = ()
    """What was wrong with each unusable reply."""
    fell_back: bool = False
    """Whether no reply could be used."""


class Panel:
    """Puts questions to one analyst."""

    def __init__(self, analyst: Analyst) -> None:
        self.analyst = analyst
        self.asked: list[Asked] = []

    async def ask[A: Answer](
        self, question: AnyQuestion, model: type[A], check: Callable[[A], None] | None = None, tries: int = 1
    ) -> A | None:
        """The answer, parsed and checked, or None if none could be used. Further tries say what was wrong with the
        last."""
        start = time.perf_counter()
        problems: list[str] = []
        correction: Correction | None = None
        answer: A | None = None
        for _ in range(tries):
            reply = ""
            try:
                reply = await self.analyst.ask(question, correction)
                answer = parse(reply, model)
                if check is not None:
                    check(answer)
                break
            except (BadAnswer, AnalystFailed) as error:
                answer = None
                problems.append(str(error))
                correction = Correction(reply, str(error))
        attempts = len(problems) + (answer is not None)
        took = time.perf_counter() - start
        self.asked.append(Asked(question.key, attempts, took, tuple(problems), fell_back=answer is None))
        return answer

    def record(self) -> tuple[Asked, ...]:
        """All questions, by name: the order in which replies came in is chance."""
        return tuple(sorted(self.asked, key=lambda asked: asked.key))
