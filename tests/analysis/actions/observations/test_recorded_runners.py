"""What real test runners print: one test that passes, one that fails, one that is skipped; and one that passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dense.analysis.actions.observations.result import ObservedResult

type Look = Callable[..., ObservedResult]

RECORDINGS = sorted(Path(__file__).parents[3].joinpath("fixtures", "test-runners").glob("*.json"))
RUNNERS = {"node": "tap", "node-spec": "tap", "tape": "tap", "qunit": "tap"}
"""Recordings that are named for the program, not for the way in which it reports."""
NO_PASSES = {"go", "prove", "doctest", "ava"}
"""Runners that do not say how many passed."""
SILENT = {"doctest"}
"""Runners that print nothing if all is well."""
NAMELESS = {"bats", "catch2", "jasmine"}
"""Runners whose names of failed tests are not read."""


def recorded(path: Path, name: str, after: Look) -> ObservedResult:
    run = json.loads(path.read_text())[name]
    return after(run["command"], run["output"], code=run["exit_code"])


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_run_with_a_failure_is_counted(path: Path, after: Look) -> None:
    (run,) = recorded(path, "mixed", after).tests
    assert run.runner == RUNNERS.get(path.stem, path.stem)
    assert (run.passed, run.failed) == (None if path.stem in NO_PASSES else 1, 1)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_failed_test_is_named(path: Path, after: Look) -> None:
    (run,) = recorded(path, "mixed", after).tests
    assert bool(run.names) == (path.stem not in NAMELESS), run.names


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_run_without_failures_has_passed(path: Path, after: Look) -> None:
    result = recorded(path, "passing", after)
    assert not result.has_failed
    assert [(run.runner, run.passed) for run in result.tests if run.passed != 0] == (
        [] if path.stem in SILENT else [(RUNNERS.get(path.stem, path.stem), None if path.stem in NO_PASSES else 1)]
    )
