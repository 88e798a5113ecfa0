"""Asking, with the one corrective call and a record of everything that had to be made up.

Exactly one place decides that a reply is unusable. What is done instead (the fallback) is the asker's business; that it
was done stands in the record.

An analyst that is asked over a network is waited for, and much is asked at a time. One that has nothing to wait for
(`InstantAnalyst`) is asked in plain order: no tasks, no event loop, no text to parse."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from dense.analyst.answers import Answer, BadAnswer, parse
from dense.analyst.instant import Answering, InstantAnalyst
from dense.analyst.questions import Analyst, AnyQuestion, Correction
from dense.errors import AnalystFailed, CallFailed
from dense.evidence.actions import EffectsOf
from dense.trajectory import Trajectory


class Work[T]:
    """Pieces of work that run beside each other; the results are in the order in which they were added.

    If one raises, the others are cancelled. Work that never waits is done at once, when it is added."""

    def __init__(self, *, is_instant: bool) -> None:
        self._group = None if is_instant else asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[T]] = []
        self._done: list[T] = []

    async def __aenter__(self) -> Self:
        if self._group is not None:
            await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._group is not None:
            await self._group.__aexit__(kind, error, trace)
            self._done = [task.result() for task in self._tasks]

    async def add(self, piece: Coroutine[Any, Any, T]) -> None:
        if self._group is None:
            self._done.append(await piece)
        else:
            self._tasks.append(self._group.create_task(piece))

    @property
    def results(self) -> list[T]:
        """What came of it, once the block has ended."""
        return self._done


def at_once[T](work: Coroutine[Any, Any, T]) -> T:
    """What comes of work that never waits: it needs no event loop."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise RuntimeError("work that was to be done at once had to wait")


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
    is_unanswered: bool = False
    """Whether the last try got no reply at all because a call failed for good."""


class Panel:
    """Puts the questions of one distillation to one analyst."""

    def __init__(self, analyst: Analyst | InstantAnalyst, trajectory: Trajectory, effects: EffectsOf) -> None:
        self.asked: list[Asked] = []
        self.effects = effects
        self.is_instant = isinstance(analyst, InstantAnalyst)
        self._ask: Callable[[AnyQuestion, Correction | None], Awaitable[str | Answer]] = (
            _asking(analyst.study(trajectory, effects)) if isinstance(analyst, InstantAnalyst) else analyst.ask
        )

    async def ask[A: Answer](
        self, question: AnyQuestion, model: type[A], check: Callable[[A], None] | None = None, tries: int = 1
    ) -> A | None:
        """The answer, parsed and checked, or None if none could be used. Further tries say what was wrong with the
        last; who answers by rule is asked once, since it would say the same again."""
        start = time.perf_counter()
        problems: list[str] = []
        correction: Correction | None = None
        answer: A | None = None
        is_unanswered = False
        for _ in range(1 if self.is_instant else tries):
            reply = ""
            try:
                reply = await self._ask(question, correction)
                answer = _typed(reply, model)
                if check is not None:
                    check(answer)
                break
            except (BadAnswer, AnalystFailed) as error:
                answer = None
                is_unanswered = isinstance(error.__cause__, CallFailed)
                problems.append(str(error))
                correction = Correction(reply if isinstance(reply, str) else reply.json(), str(error))
        attempts = len(problems) + (answer is not None)
        took = time.perf_counter() - start
        fell_back = answer is None
        self.asked.append(
            Asked(question.key, attempts, took, tuple(problems), fell_back, is_unanswered=fell_back and is_unanswered)
        )
        return answer

    async def together[T](self, work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """All of these, concurrently where there is something to wait for, in their own order."""
        if self.is_instant:
            return [await piece for piece in work]
        async with Work[T](is_instant=False) as block:
            for piece in work:
                await block.add(piece)
        return block.results

    def record(self) -> tuple[Asked, ...]:
        """All questions, by name: the order in which replies came in is chance."""
        return tuple(sorted(self.asked, key=lambda asked: asked.key))


def _asking(answer: Answering) -> Callable[[AnyQuestion, Correction | None], Awaitable[Answer]]:
    """The same as something to be awaited, which it never makes anybody do."""

    async def ask(question: AnyQuestion, correction: Correction | None) -> Answer:
        del correction
        return answer(question)

    return ask


def _typed[A: Answer](reply: str | Answer, model: type[A]) -> A:
    if isinstance(reply, str):
        return parse(reply, model)
    if not isinstance(reply, model):
        raise BadAnswer(f"{type(reply).__name__} where {model.__name__} was asked for")
    return reply
