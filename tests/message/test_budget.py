"""How many bytes feedback may have: half of the raw text within limits, what the user says, or the paper's."""

from __future__ import annotations

import pytest

from dense.message.budget import budgets_for, raw_size
from dense.options import parse_budget
from dense.trajectory import Observation, Source, Step, ToolCall, Trajectory


def trajectory(size: int) -> Trajectory:
    step = Step(Source("x"), "é", calls=(ToolCall("t", {"a": [1]}),), observations=(Observation("x" * (size - 5)),))
    return Trajectory("test", "t", Source("x"), steps=(step,))


def test_raw_text_is_messages_arguments_and_outputs_in_bytes() -> None:
    assert raw_size(trajectory(1_000)) == 1_000


@pytest.mark.parametrize(
    ("raw", "budget"), [(100, 3_000), (5_000, 5_940), (12_000, 8_000), (40_000, 20_000), (10**6, 24_000)]
)
def test_by_default_half_of_the_raw_text_within_limits(raw: int, budget: int) -> None:
    assert budgets_for(None, trajectory(raw)).complete == budget


def test_a_given_budget_and_the_paper_s() -> None:
    assert budgets_for(5_000, trajectory(10)).complete == 5_000
    paper = budgets_for("paper", trajectory(10))
    assert (paper.tree, paper.complete) == (180 * 1024, 200 * 1024)
    assert (parse_budget(None), parse_budget("paper"), parse_budget("700")) == (None, "paper", 700)


@pytest.mark.parametrize("text", ["511", "-1", "many", ""])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(ValueError, match=r"budget|bytes"):
        parse_budget(text)
