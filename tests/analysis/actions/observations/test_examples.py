"""The example traces: which of their actions went wrong, and how."""

from __future__ import annotations

from pathlib import Path

import pytest

import dense
from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects

EXAMPLES = Path(__file__).parents[4] / "examples"

FAILED: dict[str, dict[int, tuple[str, str]]] = {
    "csv-report/trial": {
        1: ("no_such_file", "/app/summary.json"),
        3: ("no_such_module", "pandas"),
        5: ("exception", "KeyError"),
        9: ("no_such_module", "matplotlib"),
        10: ("no_such_command", "gnuplot"),
        11: ("no_such_command", "convert"),
        12: ("no_such_file", "chart.png"),
    },
    "password-recovery/recovery.traj.json": {
        8: ("other", ""),
        9: ("other", ""),
        11: ("no_such_command", "7z"),
    },
    "clean-success/session.jsonl": {2: ("no_such_module", "pytest"), 3: ("tests", "4")},
    "looks-successful/rollout.jsonl": {
        3: ("exit", "1"),
        4: ("no_such_module", "numpy"),
        7: ("tests", "2"),
        9: ("tests", "4"),
    },
}


@pytest.mark.parametrize("name", FAILED)
def test_what_went_wrong(name: str) -> None:
    found: dict[int, tuple[str, str]] = {}
    for action, step in enumerate(next(iter(dense.read(EXAMPLES / name))).steps, 1):
        result = observe(step, effects(step))
        if result.failures:
            found[action] = (result.failures[0].family.code, result.failures[0].subject)
        elif result.has_failed:
            found[action] = ("tests", str(sum(run.failed for run in result.tests)))
    assert found == FAILED[name]
