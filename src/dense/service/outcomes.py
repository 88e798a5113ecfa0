"""The outcome of an attempt, for methods that are privileged by their type."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from dense.errors import MissingInput
from dense.outcome import Outcome
from dense.readers.folders.harbor import is_harbor_trial
from dense.readers.outcomes import read_outcomes
from dense.trajectory import Trajectory


def trial_outcome(trajectory: Trajectory) -> Outcome:
    """How the attempt was graded, read from the Harbor trial that its trace is in."""
    path = Path(trajectory.source.path)
    # A path may be relative to a folder within the trial, or be a link into it.
    folders = chain(path.absolute().parents, path.resolve().parents)
    trial = next((folder for folder in folders if is_harbor_trial(folder)), None)
    if trial is None:
        raise MissingInput("no outcome: only the traces of Harbor trials have one beside them")
    outcome = next(read_outcomes(trial))
    if outcome.reward is None and not outcome.verifier_output:
        raise MissingInput(f"no outcome: the verifier of {trial} did not run")
    return outcome
