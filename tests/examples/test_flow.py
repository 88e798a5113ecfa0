"""The whole way, with nothing replaced: an attempt, feedback on it, an attempt with it. In Harbor, with terminus-2."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from scripted_client import REFIT, Model

from dense.readers import read
from dense.service import distill
from dense.trajectory import Trajectory
from refit.experiment.config import read_config
from refit.harness.harbor import EnvironmentSettings, HarborHarness
from refit.harness.harness import AttemptOrder, AttemptResult

TASK = REFIT / "tasks" / "csv-report"
FIRST, SECOND = 1, 4
"""Seeds of an attempt that leaves the chart undone, and of one that would, too, without feedback."""


def typed(trajectory: Trajectory) -> list[str]:
    """The commands; turns of waiting are the only thing that a busy machine may change."""
    texts = [str(call.arguments.get("keystrokes", "")) for step in trajectory.steps for call in step.calls]
    return [re.sub(r'; echo "exit .*"', "", text) for text in texts if text]


def test_feedback_on_an_attempt_makes_the_next_one_pass(able: None, model: Model, tmp_path: Path) -> None:
    config = read_config(REFIT / "refit.yaml")
    recipient = config.recipients[0].recipient(REFIT)
    harness = HarborHarness(EnvironmentSettings("sandbox"), servers={recipient.name: model.address})

    async def attempt(name: str, seed: int, message: str | None = None) -> tuple[AttemptResult, Trajectory]:
        order = AttemptOrder(name, recipient, TASK, tmp_path / name, message, seed)
        attempted = await harness.attempt(order)
        assert attempted.exception is None, attempted
        return attempted, next(iter(read(tmp_path / name / attempted.trace)))

    async def way() -> None:
        (first, trajectory), (twin, same) = await asyncio.gather(attempt("first", FIRST), attempt("twin", FIRST))
        assert first.reward == twin.reward == 0
        assert typed(trajectory) == typed(same)
        made = await distill(trajectory)
        (informed, with_it), (alone, without) = await asyncio.gather(
            attempt("with-feedback", SECOND, made.feedback.message), attempt("alone", SECOND)
        )
        assert (informed.reward, alone.reward) == (1, 0)
        assert informed.received == "same"
        repeated = typed(with_it)[0]
        assert "/app/summary.json" in repeated and repeated in typed(trajectory), "what worked comes first, as quoted"
        assert repeated not in typed(without)
        assert informed.usage and informed.usage.input and informed.usage.cache_read and informed.usage.output

    async def alone() -> None:
        async with harness:
            await way()

    asyncio.run(alone())
