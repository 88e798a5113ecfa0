"""The message of several attempts: one budget, oldest first, and found again in the record of the run that got it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_feedback import made_feedback
from msgspec.structs import replace

import dense
from dense.message.injected_feedback import without_injected
from dense.message.memory import MemoryItem, compose_memory
from dense.message.page import Item, ReportPage, safe_item
from dense.trajectory import Task, Trajectory

EXAMPLES = Path(__file__).parents[2] / "examples"


def trajectories() -> list[Trajectory]:
    return list(dense.read(EXAMPLES))


def item(trajectory: Trajectory, name: str, complete: int = 200 * 1024) -> MemoryItem:
    made = made_feedback(name, trajectory, budget=complete, shares=3)
    assert made.item is not None
    return made.item


TASK = Task("Do the thing.\n")


def test_reports_stand_oldest_first_and_the_task_last() -> None:
    items = [item(trajectory, "dense") for trajectory in trajectories()[:3]]
    message = compose_memory(items, TASK)
    places = [message.index(entry.reports[2].items[1].text) for entry in items]
    assert places == sorted(places)
    assert message.endswith("\n\n" + TASK.instruction)
    assert [f"attempt {n} of 3:" in message for n in (1, 2, 3)] == [True] * 3


def test_one_item_is_the_method_s_own_message() -> None:
    trajectory = trajectories()[0]
    made = made_feedback("dense", trajectory, budget=200_000, shares=3)
    assert made.item is not None and trajectory.task is not None
    assert compose_memory([made.item], trajectory.task) == made.feedback.message


def test_the_same_advice_is_reported_once() -> None:
    first = item(trajectories()[0], "advisor")
    message = compose_memory([first, first, first], TASK)
    assert "attempt 1 of" not in message
    assert message.count(first.reports[0].items[0].text) == 1


@pytest.mark.parametrize("budget", [512, 700, 1_024, 2_048, 4_096, 10_000, 60_000])
@pytest.mark.parametrize("name", ["dense", "self-reflection", "advisor"])
def test_the_budget_holds_for_any_number_of_items(budget: int, name: str) -> None:
    items = [item(trajectory, name, budget) for trajectory in trajectories()[:3]]
    for count in (1, 2, 3):
        message = compose_memory(items[-count:], TASK)
        assert message.endswith(TASK.instruction)
        assert len(message.encode()) - len(TASK.instruction.encode()) <= budget


@settings(max_examples=30, deadline=None)
@given(
    texts=st.lists(st.text(min_size=1, max_size=400), min_size=2, max_size=3, unique=True),
    task=st.text(max_size=80).filter(str.strip),
)
def test_what_a_run_was_given_is_cut_out_again(texts: list[str], task: str) -> None:
    """Whatever reports and task say: a trace that begins with the message is as if it had begun with the task."""
    items = [
        MemoryItem((ReportPage((safe_item(Item("x", 1, "x: ", text, (("tool-call", text),))),)),) * 3, 200_000)
        for text in texts
    ]
    source = trajectories()[0]
    reported = replace(source, task=Task(compose_memory(items, Task(task))))
    cut = without_injected(reported)
    left = cut.task.instruction if cut.task else ""
    assert left.strip() == task.encode("utf-8", "replace").decode().strip()
