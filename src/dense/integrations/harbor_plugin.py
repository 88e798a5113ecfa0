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

from dense.errors import DenseError
from dense.methods import method as method_of
from dense.options import Entry, FeedbackOptions, with_option_arguments
from dense.readers import read
from dense.redact import clean_line
from dense.service.analysts import AnalystChoice, analyst_choice, opened_model
from dense.service.feedback import make_feedback
from dense.service.files import write_run
from dense.trajectory import Trajectory

FAILED = "failed.txt"
logger = logging.getLogger("harbor.plugins.dense")


class DensePlugin:
    """Distils every trial of a Harbor job."""

    def __init__(self, *, out: str = "dense", options: FeedbackOptions = FeedbackOptions()) -> None:  # noqa: B008 - immutable
        """`out` is the folder within a trial's; an option is given as `--plugin-kwarg NAME=VALUE`."""
        if Path(out).name != out or out in ("", ".", "..", "agent", "verifier", "artifacts"):
            raise DenseError(f"--plugin-kwarg out={out}: give the plain name of a folder that Harbor does not use")
        self._out, self._options = out, options.resolved(is_session=False)
        self._method = method_of(options.chosen_method)
        if self._method.sees == "outcome":
            raise DenseError(
                f"--plugin-kwarg method={options.method}: it wants the grade, which this plugin does not read"
            )
        self._stack = AsyncExitStack()
        self._choice = AnalystChoice()
        self._done = self._failed = 0

    __init__ = with_option_arguments(__init__, Entry.COMMAND, lambda field: field.type)

    async def on_job_start(self, job: Any) -> None:
        """Opens the model, and asks to be called for each trial that ends."""
        model = await self._stack.enter_async_context(opened_model(self._options))
        self._choice = analyst_choice(self._options, model)
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
