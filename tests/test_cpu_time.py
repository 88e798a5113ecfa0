"""The guards against quadratic work catch it, forgive one disturbed turn, and are what every test uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import cpu_time
import pytest

TESTS = Path(__file__).parent


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[float]], None]:
    def measured(seconds: list[float]) -> None:
        left: Iterator[float] = iter(seconds)
        monkeypatch.setattr(cpu_time, "cpu_seconds", lambda _: next(left))

    return measured


def test_one_disturbed_turn_is_forgiven(turns: Callable[[list[float]], None]) -> None:
    turns([3.0, 0.5])
    cpu_time.assert_within(1, lambda: None)
    turns([0.01, 0.7, 0.09])
    cpu_time.assert_growth(lambda _: lambda: None, 1, 8, most=16)


def test_slow_work_fails_every_turn(turns: Callable[[list[float]], None]) -> None:
    turns([3.0] * cpu_time.TURNS)
    with pytest.raises(AssertionError, match="every turn took longer"):
        cpu_time.assert_within(1, lambda: None)
    turns([0.01, *[0.64] * cpu_time.TURNS])
    with pytest.raises(AssertionError, match="8 times the size"):
        cpu_time.assert_growth(lambda _: lambda: None, 1, 8, most=16)


def test_no_test_measures_cpu_time_by_itself() -> None:
    users = {path.name for path in TESTS.rglob("*.py") if re.search(r"\bprocess_time\(", path.read_text())}
    assert users == {"cpu_time.py", "run.py"}
