"""The example csv-report with an answer to every question that any method asks about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_feedback import made_feedback

import dense
from dense.analysis.asking.scripted import ScriptedAnswerer
from dense.methods import method
from dense.outcome import Outcome
from dense.service import FeedbackRun
from dense.trajectory import Trajectory

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "csv-report"

type Making = Callable[..., FeedbackRun]


@pytest.fixture(scope="session")
def trajectory() -> Trajectory:
    (found,) = dense.read(EXAMPLE)
    return found


@pytest.fixture(scope="session")
def script() -> dict[str, Any]:
    own = json.loads((Path(__file__).parent / "csv_answers.json").read_text())
    return json.loads((EXAMPLE / "answers.json").read_text()) | own


@pytest.fixture(scope="session")
def made(trajectory: Trajectory, script: dict[str, Any]) -> Making:
    """Runs a method on the example, with the script or with another analyst."""
    outcome = Outcome(str(EXAMPLE / "trial"), 0.0, {"reward": 0.0}, "total 30\nno chart.png\n")

    def make(name: str, analyst: Any = None, of: Trajectory = trajectory, **options: Any) -> FeedbackRun:
        chosen = method(name)
        given = outcome if chosen.sees == "outcome" else None
        return made_feedback(chosen, of, analyst or ScriptedAnswerer(script), outcome=given, **options)

    return make
