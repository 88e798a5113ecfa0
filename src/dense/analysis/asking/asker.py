"""Asking questions: parse, check, one corrective call, and a record of what could not be used."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, cast

from dense.analysis.answers import Answer, BadAnswer, parse
from dense.analysis.asking.questions import Answerer, Correction, MethodQuestion, Question
from dense.draft import Asked
from dense.errors import AnalystFailed, CallFailed


class Asker:
    """Puts the questions of one run to one answerer.

    This is the one place that decides whether a reply is usable. What happens without a usable reply (the fallback) is
    up to the caller; that it happened is in the record."""

    def __init__(self, answerer: Answerer) -> None:
        self.asked: list[Asked] = []
        """The questions so far, in the order in which they were settled."""
        self.prompts: dict[str, str] = {}
        """A hash of each prompt that another method than DENSE brought, by kind of question."""
        self._answerer = answerer

    async def ask[A: Answer](
        self, question: Question, model: type[A], check: Callable[[A], None] | None = None, tries: int = 1
    ) -> A | None:
        """The answer, parsed and checked, or None if no reply could be used.

        `check` raises `BadAnswer`. With two `tries`, the second call carries the first reply and what is wrong with
        it."""
        start = time.perf_counter()
        if isinstance(question, MethodQuestion):
            self.prompts[question.kind] = question.prompt_hash()
        problems: list[str] = []
        correction: Correction | None = None
        answer: A | None = None
        is_unanswered = False
        while answer is None and len(problems) < tries:
            reply = ""
            try:
                reply = await self._answerer.ask(question, correction)
                answer = _checked(parse(reply, model), check)
            except (BadAnswer, AnalystFailed) as error:
                is_unanswered = isinstance(error.__cause__, CallFailed)
                problems.append(str(error))
                correction = Correction(reply, str(error))
        attempts, seconds, fell_back = len(problems) + (answer is not None), time.perf_counter() - start, answer is None
        is_unanswered = is_unanswered and fell_back
        self.asked.append(
            Asked(
                key=question.key,
                attempts=attempts,
                seconds=seconds,
                problems=tuple(problems),
                fell_back=fell_back,
                is_unanswered=is_unanswered,
            )
        )
        return answer

    async def reply(self, question: Question, correction: Correction | None = None) -> str:
        """The reply as it is, for a caller that reads it itself and adds to `asked`."""
        return await self._answerer.ask(question, correction)

    def record(self) -> tuple[Asked, ...]:
        """All questions, sorted by key, because the order in which replies arrive is chance."""
        return tuple(sorted(self.asked, key=lambda asked: asked.key))


def _checked[A: Answer](answer: A, check: Callable[[A], None] | None) -> A:
    if check is not None:
        check(answer)
    return answer


@asynccontextmanager
async def task_group() -> AsyncGenerator[asyncio.TaskGroup]:
    """A task group that raises the first error itself, not an exception group: tasks that run together fail for one
    reason."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


async def together[T](work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all of these concurrently; the results are in the order of the input. If one raises, the rest is
    cancelled."""
    async with task_group() as group:
        tasks = [group.create_task(piece) for piece in work]
    return [task.result() for task in tasks]


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
