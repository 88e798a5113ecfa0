"""Every step of the bundled examples that changes files or checks something; all others do neither. Read by eye."""

from __future__ import annotations

from pathlib import Path

import pytest

import dense
from dense.analysis.actions.step_effects import effects

EXAMPLES = Path(__file__).parents[3] / "examples"
Row = tuple[tuple[str, ...], tuple[str, ...]]

WRITES_AND_TESTS: dict[str, dict[int, Row]] = {
    "csv-report": {
        4: (("summarise.py", "/app/summary.json"), ()),
        6: (("summarise.py",), ()),
        8: (("chart.py", "/app/chart.png"), ()),
        9: (("regions.dat", "chart.png"), ()),
        10: (("chart.png",), ()),
    },
    "password-recovery": {8: (("carved.zip",), ())},
    "clean-success": {
        1: ((), ("python3 -m pytest -q",)),
        2: ((), ("python3 -m unittest",)),
        3: (("/app/durations.py",), ()),
        4: (("/app/durations.py",), ()),
        5: ((), ("python3 -m unittest -v",)),
    },
    "looks-successful": {
        2: ((), ("python3 -m unittest", "python3 check_speed.py")),
        5: (("pairs.py",), ()),
        6: ((), ("python3 -m unittest",)),
        7: (("pairs.py",), ()),
        8: ((), ("python3 -m unittest",)),
        9: (("pairs.py",), ()),
        10: ((), ("python3 -m unittest -v",)),
        12: ((), ("python3 -m unittest",)),
    },
}


@pytest.mark.parametrize("example", WRITES_AND_TESTS)
def test_every_step_of_the_examples(example: str) -> None:
    (trajectory,) = dense.read(EXAMPLES / example)
    found = {number: effects(step) for number, step in enumerate(trajectory.steps)}
    assert {n: (e.writes, e.tests) for n, e in found.items() if e.is_key} == WRITES_AND_TESTS[example]
    assert all(not e.deletes and not e.installs and not e.services and not e.network for e in found.values())
