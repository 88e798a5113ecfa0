"""The simulation's own parts: the truth that it compares with, what it lets pass, and the size of what is made."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).parents[3] / "bench"


@pytest.fixture
def coverage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module("coverage")
    sys.modules.pop("coverage", None)


@pytest.fixture
def bench_report(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module("report")
    sys.modules.pop("report", None)


@pytest.mark.parametrize("world", ["helps", "like none", "uneven", "hard tasks"])
def test_the_truth_is_that_of_a_huge_experiment(coverage: Any, world: str) -> None:
    random = np.random.default_rng(5)
    middle, spread, effect, varies = coverage.WORLDS[world]
    logits = random.normal(middle, spread, 400_000)
    moved = logits + random.normal(effect, varies, 400_000)
    before, after = (100 / (1 + np.exp(-of)) for of in (logits, moved))
    true = coverage.truth(world)
    assert true["rate"] == pytest.approx(after.mean(), abs=0.3)
    assert true["change"] == pytest.approx((after - before).mean(), abs=0.3)
    if world in coverage.NULL:
        assert true["change"] == pytest.approx(0.0, abs=1e-9)


def test_tokens_of_the_truth(coverage: Any) -> None:
    random = np.random.default_rng(6)
    middle, spread, effect, varies, noise = coverage.TOKENS
    scale = random.normal(middle, spread, 2_000_000)
    before = np.exp(scale + random.normal(0, noise, 2_000_000))
    after = np.exp(scale + random.normal(effect, varies, 2_000_000) + random.normal(0, noise, 2_000_000))
    true = coverage.truth("helps")
    assert true["tokens"] == pytest.approx(100 * (after.mean() / before.mean() - 1), abs=0.5)
    assert true["amount"] == pytest.approx(after.mean(), rel=0.01)


def test_a_few_trials_cover_and_repeat(coverage: Any) -> None:
    found = [coverage.measure("like none", 30, 60, 300) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0]["change"] > 85 and found[0]["p"] < 15
    assert coverage.family("like none", 12, 5, 300) <= 20


def test_lost_grades_make_claims_only_where_nobody_counts_them(coverage: Any) -> None:
    found = coverage.lossy(30, 20, 300)
    assert found["claimed"] <= 5 and found["if left out"] >= 20
    assert list(coverage.false_claims({"30": found}, 20)) == []
    assert len(list(coverage.false_claims({"30": {"claimed": 60.0}}, 20))) == 1


def test_what_is_outside_is_reported(coverage: Any) -> None:
    good = {"rate": 95.0, "change": 95.0, "tokens": 92.0, "amount": 80.0, "p": 5.0, "mcnemar": 12.0, "family": 4.0}
    assert list(coverage.problems({"uneven": {"89": good}}, 1000)) == []
    for name, value in (("rate", 92.9), ("change", 97.1), ("tokens", 90.0), ("p", 8.0), ("family", 15.0)):
        assert len(list(coverage.problems({"uneven": {"89": {**good, name: value}}}, 1000))) == 1, name
    assert list(coverage.problems({"uneven": {"12": {**good, "tokens": 80.0}}}, 1000)) == []


def test_the_large_experiment_is_as_large_as_it_says(bench_report: Any) -> None:
    experiment = bench_report.made()
    assert len(experiment.results) == 39_516 and "39,516 cells" in bench_report.__doc__
    assert len({result.cell for result in experiment.results}) == 39_516
    assert 200 < sum(result.attempt.reward is None for result in experiment.results) < 600
