"""Exact tests and quantiles, against brute force and published tables."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from statistics import NormalDist

import pytest
from cpu_time import assert_within
from hypothesis import given
from hypothesis import strategies as st

from refit.report.statistics.significance import expanded_risk, holm, mcnemar, share_above, sign_flip

THIRDS = st.lists(st.integers(-3, 3).map(lambda n: Fraction(n, 3)), max_size=9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(first: int, second: int) -> None:
    total = first + second
    tail = sum(math.comb(total, hits) for hits in range(min(first, second) + 1))
    assert mcnemar(first, second) == pytest.approx(min(1.0, 2 * tail / 2**total))


@given(THIRDS)
def test_sign_flips_are_counted_as_by_brute_force(differences: list[Fraction]) -> None:
    observed = abs(sum(differences))
    ways = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in _signs(len(differences))]
    assert sign_flip(differences)[0] == pytest.approx(sum(way >= observed for way in ways) / len(ways))


def _signs(count: int) -> list[tuple[int, ...]]:
    return list(itertools.product((1, -1), repeat=count))


def test_sign_flips_of_uneven_repetitions() -> None:
    differences = [Fraction(1, 2), Fraction(1, 3), Fraction(-1, 5), Fraction(1, 7)]
    ways = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in _signs(4)]
    expected = sum(way >= abs(sum(differences)) for way in ways) / 16
    assert sign_flip(differences) == (pytest.approx(expected), 2 / 16)


def test_nothing_differs() -> None:
    assert sign_flip([Fraction(0)] * 5) == (1.0, 1.0)
    assert sign_flip([]) == (1.0, 1.0)


def test_hundreds_of_tasks_are_no_hardship() -> None:
    p, smallest = sign_flip([Fraction(1, 3), Fraction(-1, 3), Fraction(2, 3)] * 150)
    assert 0 < smallest < p < 1e-4


def test_hundreds_of_uneven_tasks_take_no_seconds() -> None:
    chance = random.Random(3)
    sizes = [chance.choice([7, 8, 9, 10]) for _ in range(300)]
    differences = [Fraction(chance.randint(-size, size), size) for size in sizes]
    assert_within(2.5, lambda: sign_flip(differences))
    p, _ = sign_flip(differences)
    assert p == pytest.approx(_by_normal(differences), rel=0.05)


def test_thousands_are_taken_in_coarser_steps() -> None:
    chance = random.Random(4)
    sizes = [chance.choice([7, 8, 9, 10]) for _ in range(3000)]
    differences = [Fraction(chance.randint(-size, size), size) for size in sizes]
    p, _ = sign_flip(differences)
    assert p == pytest.approx(_by_normal(differences), rel=0.1)


def test_ten_uneven_repetitions_are_none_either() -> None:
    differences = [Fraction(at % 5 - 2 + (at % 7 == 0), 10 - at % 4) for at in range(89)]
    p, _ = sign_flip(differences)
    assert 0.05 < p < 0.95 and p == pytest.approx(_by_normal(differences), rel=0.05)


def _by_normal(differences: list[Fraction]) -> float:
    spread = math.sqrt(sum(float(one) ** 2 for one in differences))
    return math.erfc(abs(float(sum(differences))) / spread / math.sqrt(2))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, None, 0.005]) == [0.03, 0.06, 0.06, None, 0.02]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_lowers_and_keeps_the_order(values: list[float]) -> None:
    adjusted = [p or 0.0 for p in holm(list(values))]
    assert all(after >= before for before, after in zip(values, adjusted, strict=True))
    order = sorted(range(len(values)), key=lambda at: values[at])
    assert [adjusted[at] for at in order] == sorted(adjusted)


@pytest.mark.parametrize(("count", "of"), [(0, 89), (1, 12), (2, 3), (5, 30)])
def test_the_bound_is_clopper_and_pearsons(count: int, of: int) -> None:
    share = share_above(count, of, 0.025)
    tail = sum(math.comb(of, hits) * share**hits * (1 - share) ** (of - hits) for hits in range(count + 1))
    assert tail == pytest.approx(0.025)
    assert share_above(of, of, 0.025) == 1.0


@pytest.mark.parametrize(("tasks", "student"), [(2, 12.706), (3, 4.303), (12, 2.201), (13, 2.179), (89, 1.987)])
def test_an_interval_is_as_wide_as_students(tasks: int, student: float) -> None:
    wide = -NormalDist().inv_cdf(expanded_risk(tasks, 0.025))
    assert wide == pytest.approx(student * math.sqrt(tasks / (tasks - 1)), rel=3e-4)


def test_the_level_is_expanded_more_for_fewer_tasks() -> None:
    levels = [expanded_risk(tasks, 0.025) for tasks in (5, 12, 30, 89, 2000)]
    assert levels == sorted(levels) and levels[-1] == pytest.approx(0.025, abs=2e-4)
