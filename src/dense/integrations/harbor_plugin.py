"""A plugin for Harbor: each trial of a job is distilled as soon as it has ended, into its own folder.

    harbor run … --plugin dense [--plugin-kwarg method=dense] [--plugin-kwarg model=PROVIDER/NAME]

leaves `<trial>/dense/` with the feedback, the message for the next attempt, the trees and the record. Harbor finds it
by the entry point `dense` of `harbor.plugins`; nothing of Harbor is imported here. A trial that cannot be distilled is
noted in Harbor's log and in `failed.txt`, and the job goes on. Grades are not read: a method that wants them is
refused."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from dense.analyst import Profile
from dense.deliver.budget import BudgetChoice
from dense.errors import DenseError
from dense.methods import method as method_of
from dense.model import open_model
from dense.readers import read
from dense.redact import clean_line
from dense.service.analysts import AnalystChoice, model_settings
from dense.service.feedback import FeedbackOptions, make_feedback
from dense.service.files import write_run
from dense.trajectory import Trajectory

FAILED = "failed.txt"
logger = logging.getLogger("harbor.plugins.dense")


class DensePlugin:
    """Distils every trial of a Harbor job."""

    def __init__(
        self,
        *,
        out: str = "dense",
        method: str = "dense",
        model: str | None = None,
        profile: Profile = "fast",
        budget: BudgetChoice = None,
    ) -> None:
        """`out` is the folder within a trial's; without `model` the built-in rules are the analyst."""
        if Path(out).name != out or out in ("", ".", "..", "agent", "verifier", "artifacts"):
            raise DenseError(f"--plugin-kwarg out={out}: give the plain name of a folder that Harbor does not use")
        self._out, self._method = out, method_of(method)
        if self._method.sees == "outcome":
            raise DenseError(f"--plugin-kwarg method={method}: it wants the grade, which this plugin does not read")
        self._model_name, self._settings = model, model_settings(model)
        self._options = FeedbackOptions(profile=profile, budget=budget)
        self._stack = AsyncExitStack()
        self._choice = AnalystChoice()
        self._done = self._failed = 0

    async def on_job_start(self, job: Any) -> None:
        """Opens the model, and asks to be called for each trial that ends."""
        model = None
        if self._model_name is not None:
            model = await self._stack.enter_async_context(open_model(self._model_name))
        self._choice = AnalystChoice(model, settings=self._settings)
        job.on_trial_ended(self._distil)

    async def on_job_end(self, result: Any) -> None:  # noqa: ARG002
        """Closes the model."""
        await self._stack.aclose()
        logger.info("dense: %d trials distilled, %d failed", self._done, self._failed)

    async def _distil(self, event: Any) -> None:
        """One trial. Whatever goes wrong is about its feedback and never about the trial."""
        trial = Path(event.config.trials_dir) / event.config.trial_name
        folder = trial / self._out
        try:
            run = await make_feedback(self._method, _trajectory(trial), self._choice, options=self._options)
            write_run(folder, run.require())
        except (DenseError, OSError) as error:
            self._failed += 1
            problem = clean_line(str(error))
            logger.warning("dense: %s: no feedback: %s", clean_line(trial.name), problem)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / FAILED).write_text(f"{problem}\n", encoding="utf-8")
        else:
            self._done += 1


def _trajectory(trial: Path) -> Trajectory:
    trajectory = next(iter(read(trial)), None)
    if trajectory is None:
        raise DenseError("the trial left no trace")
    return trajectory
