"""`dense.distill_sync`, for programs that do not await."""

from __future__ import annotations

import asyncio

from made_attempt import attempt

from dense.service import distill_sync

TRACE = attempt("Write `/app/out.txt`.", ("echo 3 > /app/out.txt", ""), ("cat /app/out.txt", "3"), "Done.")


def test_it_gives_the_same_inside_a_running_event_loop() -> None:
    async def in_notebook() -> str:
        return distill_sync(TRACE).feedback.report

    assert asyncio.run(in_notebook()) == distill_sync(TRACE).feedback.report
