"""Attempts that were made before, served again: for tests of what runs attempts, and to replay an experiment elsewhere.

It reads each result from the recorded trial, as if it had just been made; nothing is run and nothing is asked."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path

from dense.errors import DenseError
from dense.harness.delivery_check import with_delivery
from dense.harness.finished_trial import RESULT_FILE, incomplete, read_trial
from dense.harness.harness import AttemptOrder, AttemptResult
from dense.trajectory import Usage


class RecordedHarness:
    """Gives each order the trial that was recorded for its name."""

    name = "recorded"

    def __init__(self, trials: Path | Mapping[str, Path], *, delay: float = 0.0) -> None:
        """`trials` are folders of trials by order name, or a folder with a folder for each name and a trial in it.
        `delay` is how many seconds an attempt takes."""
        self.trials = trials
        self.delay = delay

    async def attempt(self, order: AttemptOrder) -> AttemptResult:
        """The recorded trial, copied to the order's folder."""
        source = self._recorded(order.name)
        await asyncio.to_thread(shutil.rmtree, order.folder, ignore_errors=True)
        await asyncio.sleep(self.delay)
        target = order.folder / source.name
        try:
            # The result last: a copy that was cut off is no finished trial.
            await asyncio.to_thread(shutil.copytree, source, target, ignore=shutil.ignore_patterns(RESULT_FILE))
            if (source / RESULT_FILE).is_file():
                await asyncio.to_thread(shutil.copy2, source / RESULT_FILE, target / RESULT_FILE)
        except (OSError, shutil.Error) as error:
            raise DenseError(f"{source}: cannot be copied to {target} ({error})") from None
        return await asyncio.to_thread(_result_of, order, target)

    def finished(self, order: AttemptOrder) -> AttemptResult | None:
        """What a killed run copied to its end."""
        for result in sorted(order.folder.glob(f"*/{RESULT_FILE}")):
            attempted = _result_of(order, result.parent)
            if attempted.is_scored:
                return attempted
        return None

    def clear_killed(self, order: AttemptOrder) -> Usage | None:  # noqa: ARG002
        """Nothing: a recorded trial was given no secrets here, and took nothing."""
        return None

    def _recorded(self, name: str) -> Path:
        if isinstance(self.trials, Path):
            found = sorted(path.parent for path in (self.trials / name).glob(f"*/{RESULT_FILE}"))
            trial = found[0] if found else None
        else:
            trial = self.trials.get(name)
        if trial is None or not trial.is_dir():
            raise DenseError(f"nothing was recorded for the attempt {name!r}")
        return trial


def _result_of(order: AttemptOrder, trial: Path) -> AttemptResult:
    attempted = read_trial(trial, order.folder)
    return incomplete(trial.name) if attempted is None else with_delivery(attempted, order, trial)
