"""Means over tasks and their intervals: weighting, pairing, honesty where tasks do not vary, the same every time."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.errors import DenseError, install_hint
from refit.report.statistics.bootstrap import POINTS, RATE, TaskSample, weights

TASKS = [f"t{number}" for number in range(20)]


def by_task(values: list[float]) -> dict[tuple[str, int], float]:
    return {(f"t{number}", 0): value for number, value in enumerate(values)}


def test_tasks_weigh_the_same_whatever_their_repetitions() -> None:
    found = TaskSample(["a", "b"], 200).mean({("a", 0): 100.0, ("a", 1): 100.0, ("a", 2): 0.0, ("b", 0): 0.0}, of=6)
    assert found.value == pytest.approx(100 / 3)
    assert (found.tasks, found.known, found.of) == (2, 4, 6)


def test_pairs_weigh_the_same_in_a_share() -> None:
    found = TaskSample(["a", "b"], 200).share({("a", 0): 100.0, ("a", 1): 100.0, ("a", 2): 0.0, ("b", 0): 0.0})
    assert found.value == 50.0


def test_the_interval_of_many_tasks_is_nearly_students() -> None:
    values = [float(number % 7) for number in range(400)]
    sample = TaskSample([f"t{number}" for number in range(400)], 10_000)
    found = sample.mean(by_task(values)).interval
    half = 1.966 * np.std(values, ddof=1) / 20
    assert found is not None and found.kind == "bootstrap"
    assert (found.low, found.high) == pytest.approx((np.mean(values) - half, np.mean(values) + half), rel=0.01)


def test_one_task_has_no_interval() -> None:
    assert TaskSample(["a"], 200).mean({("a", 0): 100.0, ("a", 1): 0.0}, bounds=RATE).interval is None


def test_nothing_has_no_value() -> None:
    found = TaskSample([], 200).mean({}, of=3)
    assert (found.value, found.interval, found.known, found.of) == (None, None, 0, 3)


def test_all_pass_is_not_certainty() -> None:
    found = TaskSample(TASKS, 500).mean(by_task([100.0] * 20), bounds=RATE)
    assert found.value == 100.0 and found.interval is not None and found.interval.kind == "bound"
    assert found.interval.high == 100.0
    assert found.interval.low == pytest.approx(100 * 0.025 ** (1 / 20))


def test_no_change_is_not_certainty_either() -> None:
    found = TaskSample(TASKS, 500).mean(by_task([0.0] * 20), bounds=POINTS).interval
    reach = 100 * (1 - 0.025 ** (1 / 20))
    assert found is not None and (found.low, found.high) == pytest.approx((-reach, reach))


def test_two_tasks_that_differ_are_not_enough_to_exclude_zero() -> None:
    two = TaskSample(TASKS, 500).mean(by_task([100.0] * 2 + [0.0] * 18), bounds=POINTS).interval
    three = TaskSample(TASKS, 500).mean(by_task([100.0] * 3 + [0.0] * 17), bounds=POINTS).interval
    assert two is not None and three is not None
    assert two.kind == "bound" and two.low < 0 and three.kind == "bootstrap"


def test_amounts_without_variation_have_no_interval() -> None:
    assert TaskSample(TASKS, 500).mean(by_task([7.0] * 20)).interval is None


def test_changes_are_ratios_of_means() -> None:
    sample = TaskSample(TASKS, 500)
    found = sample.change(by_task([10.0, 10.0, 40.0, 40.0] * 5), by_task([20.0, 20.0, 60.0, 60.0] * 5))
    assert found.value == pytest.approx(-37.5) and found.interval is not None and found.interval.kind == "bootstrap"
    assert -50 < found.interval.low < -37.5 < found.interval.high < -100 / 3


def test_a_change_from_nothing_is_not_reported() -> None:
    assert TaskSample(TASKS, 500).change(by_task([1.0] * 20), by_task([0.0] * 20)).value is None
    assert TaskSample(TASKS, 500).change(by_task([1.0] * 20), {}).value is None


def test_draws_without_a_known_task_are_left_out() -> None:
    found = TaskSample(TASKS, 500).mean(by_task([1.0, 5.0]), of=20)
    assert found.interval is not None and found.interval.kind == "bound"
    assert found.interval.low == 0 and found.interval.high == pytest.approx(3 + 12.706 * 2, abs=0.01)


def test_draws_are_draws_of_tasks() -> None:
    drawn = weights(7, 300, 1)
    assert drawn.shape == (7, 300) and (drawn.sum(axis=0) == 7).all()
    assert drawn.mean() == pytest.approx(1.0) and drawn.std() > 0.5


def test_the_seed_decides() -> None:
    values = by_task([float(number * number) for number in range(20)])
    intervals = [TaskSample(TASKS, 500, seed).mean(values).interval for seed in (1, 1, 2)]
    assert intervals[0] == intervals[1] != intervals[2]


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(DenseError, match="too few"):
        TaskSample(TASKS, 20)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0.0, 100 / 3, 200 / 3, 100.0]), min_size=2, max_size=20))
def test_an_interval_holds_its_rate_and_stays_possible(values: list[float]) -> None:
    found = TaskSample(TASKS, 400).mean(by_task(values), bounds=RATE)
    assert found.value is not None and found.interval is not None
    assert -1e-6 <= found.interval.low <= found.value + 1e-6
    assert found.value - 1e-6 <= found.interval.high <= 100 + 1e-6


def test_without_numpy_people_read_what_to_install() -> None:
    block = "import sys; sys.modules['numpy'] = None"
    code = f"{block}; from refit.report.statistics.bootstrap import TaskSample; TaskSample(['a'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "DenseError" in done.stderr and install_hint("report") in done.stderr


def test_amounts_of_few_tasks_are_as_uncertain_as_student_says() -> None:
    values = {("a", 0): 100.0, ("b", 0): 140.0, ("c", 0): 90.0}
    found = TaskSample(("a", "b", "c")).mean(values).interval
    # 110 ± 4.303 × 26.458 / √3, by hand
    assert found is not None and found.kind == "bound"
    assert (found.low, found.high) == (pytest.approx(44.28, abs=0.01), pytest.approx(175.72, abs=0.01))
    base = {("a", 0): 100.0, ("b", 0): 100.0, ("c", 0): 100.0}
    change = TaskSample(("a", "b", "c")).change(values, base)
    assert change.value == pytest.approx(10) and change.interval is not None
    assert (change.interval.low, change.interval.high) == (
        pytest.approx(-55.72, abs=0.01),
        pytest.approx(75.72, abs=0.01),
    )
