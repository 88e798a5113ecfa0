"""Whatever a trajectory holds: no method raises, each keeps its budget, and each takes time in proportion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cpu_time import assert_growth
from hypothesis import given, settings
from hypothesis import strategies as st
from made_feedback import made_feedback

from dense.methods import list_report, method, method_names, text_items
from dense.outcome import Outcome
from dense.service import FeedbackRun
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

WORDS = st.sampled_from(
    ["", "x", "é\n" * 9, "ls -la", "\ud800", "</report 0000-1>", "Traceback\nKeyError: 'a'", "1 passed", "y" * 3000]
)
OBSERVATIONS = st.lists(st.builds(Observation, WORDS, exit_code=st.sampled_from([None, 0, 1])), max_size=2).map(tuple)
CALLS = st.lists(st.builds(ToolCall, st.sampled_from(["bash", "é"]), st.dictionaries(WORDS, WORDS)), max_size=2)
STEPS = st.builds(Step, st.just(Source("x")), WORDS, WORDS, calls=CALLS.map(tuple), observations=OBSERVATIONS)
TRAJECTORIES = st.builds(
    Trajectory,
    st.just("test"),
    st.just("t"),
    st.just(Source("x")),
    task=st.builds(Task, WORDS.filter(bool)),
    steps=st.lists(STEPS, min_size=1, max_size=9).map(tuple),
)


def made(name: str, trajectory: Trajectory, **options: Any) -> FeedbackRun:
    chosen = method(name)
    outcome = Outcome("x", 0.5, {"a\n": 0.1}, "é" * 9_000) if chosen.sees == "outcome" else None
    return made_feedback(chosen, trajectory, outcome=outcome, **options)


@pytest.mark.parametrize("name", sorted(method_names()))
@given(trajectory=TRAJECTORIES, size=st.sampled_from([512, 900, 4_000, 20_000]))
@settings(max_examples=15, deadline=None)
def test_any_trajectory_any_budget(name: str, trajectory: Trajectory, size: int) -> None:
    feedback = made(name, trajectory, budget=size).feedback
    assert trajectory.task is not None
    task = trajectory.task.instruction.encode("utf-8", "replace")
    assert feedback.message.encode().endswith(task)
    assert len(feedback.message.encode()) - len(task) <= size


@given(st.lists(WORDS, max_size=30), st.integers(60, 9_000))
@settings(deadline=None)
def test_a_listing_keeps_what_fits(words: list[str], room: int) -> None:
    items = text_items("summary", words)
    report = list_report(items)(room)
    shown = [item for item in report.items if item.kind == "summary"]
    assert [item.label for item in shown] == ["summary: "] * len(shown)
    assert len(shown) + len(report.dropped) == len(items)
    assert report.size <= room


@pytest.mark.parametrize("name", ["self-reflection", "all-at-once", "step-by-step"])
def test_time_is_linear(name: str) -> None:
    call = ToolCall("bash", {"command": "make a b"})
    step = Step(Source("x"), "go", calls=(call,), observations=(Observation("o"),))

    def work(count: int) -> Callable[[], object]:
        return lambda: made(name, Trajectory("test", "t", Source("x"), task=Task("do"), steps=(step,) * count))

    work(50)()
    assert_growth(work, 500, 4_000, most=16, spare=0.3)
