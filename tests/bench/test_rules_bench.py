"""The measurement of the built-in analyst's speed: what is made is what is said, and the numbers add up."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dense

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(name="rules")
def rules_module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module("rules")
    sys.modules.pop("rules", None)


@pytest.mark.parametrize(("actions", "size"), [(35, 150_000), (7, 20_000), (200, 180_000)])
def test_a_made_trace_has_its_actions_and_about_its_size(rules: Any, tmp_path: Path, actions: int, size: int) -> None:
    rules.Made().write(tmp_path / "a.traj.json", actions, size)
    (trajectory,) = dense.read(tmp_path / "a.traj.json")
    assert (trajectory.format, len(trajectory.steps)) == ("mini-swe-agent", actions)
    assert all(step.calls and step.observations for step in trajectory.steps)
    assert trajectory.task is not None and "out/report.json" in trajectory.task.instruction
    assert (tmp_path / "a.traj.json").stat().st_size == pytest.approx(size, rel=0.1)


def test_made_traces_are_the_same_every_time(rules: Any, tmp_path: Path) -> None:
    for name in "ab":
        rules.Made().write(tmp_path / name, 40, 60_000)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_is_that_of_the_power(rules: Any, power: float) -> None:
    assert rules.exponent([(x, 3e-4 * x**power) for x in (100, 1_000, 100_000)]) == pytest.approx(power)


def test_the_parts_come_to_the_whole(rules: Any, tmp_path: Path) -> None:
    rules.Made().write(tmp_path / "a.traj.json", 12, 20_000)
    row = rules.measure(tmp_path / "a.traj.json", rounds=3)
    parts = sum(row[name] for name in rules.PARTS)
    assert parts == pytest.approx(row["total_ms"], rel=0.5)
    assert row["actions"] == 12
    assert row["ratio"] == pytest.approx(row["total_ms"] / row["json_ms"])


def test_time_and_memory_grow_with_the_trace_and_no_faster(rules: Any, tmp_path: Path) -> None:
    rules.whole(_made(rules, tmp_path, 20))  # tables and grammars are loaded once
    scale = rules.measure_scale(tmp_path, (150, 600, 2_400))
    assert scale["exponent"] < 1.3, scale
    memory = rules.measure_memory(tmp_path, actions=1_500, size=6_000_000)
    assert memory["multiple"] < rules.MOST_MEMORY, memory


def test_scout_that_cannot_be_had_says_why(rules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(command: list[str]) -> str:
        raise subprocess.CalledProcessError(1, command, stderr="looking\nno index can be reached\n")

    monkeypatch.setattr(rules, "_run", refuse)
    assert rules.measure_scout([tmp_path / "a"], [1.0]) == {"not_installable": "no index can be reached"}


def _made(rules: Any, folder: Path, actions: int) -> Path:
    rules.Made().write(folder / "made.traj.json", actions, 1_000 * actions)
    return folder / "made.traj.json"
