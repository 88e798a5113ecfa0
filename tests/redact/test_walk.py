"""The texts of a trajectory are found in the order in which they are put back."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import msgspec
from hostile import hostile_trajectory
from hypothesis import given
from hypothesis import strategies as st

from dense.redact.walk import labels_of, rewrite_labels, rewrite_trajectory, texts_of
from dense.trajectory import Notice, Observation, Source, Step, Task, ToolCall, Trajectory

SOURCE = Source("t.jsonl")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)
ARGUMENTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)


@given(st.lists(ARGUMENTS, min_size=1, max_size=4))
def test_texts_stand_in_the_order_of_rewriting(arguments: list[dict[str, Any]]) -> None:
    calls = tuple(ToolCall(f"tool {number}", values) for number, values in enumerate(arguments))
    inner = Trajectory("test", "inner", SOURCE, task=Task("small"), steps=(Step(SOURCE, message="inner", calls=calls),))
    step = Step(SOURCE, "said", "thought", calls, (Observation("one"), Observation("two")), subagents=(inner,))
    whole = Trajectory(
        "test", "t", SOURCE, task=Task("do", "name"), steps=(step, step), notices=(Notice("note", "n", SOURCE),)
    )
    visited: list[str] = []

    def keep(text: str) -> str:
        visited.append(text)
        return text

    assert rewrite_trajectory(whole, keep) == whole
    assert texts_of(whole) == visited


def test_each_text_of_a_trajectory_is_a_text_or_a_label() -> None:
    """By the JSON that leaves: nothing of it is left when both are rewritten, and what is collected is what is."""
    numbers = count()
    whole = hostile_trajectory("path", lambda text: f"{text} <{next(numbers)}>")
    texts, labels = texts_of(whole), labels_of(whole)
    told = set(re.findall(r"<\d+>", msgspec.json.encode(whole).decode()))
    assert told == set(re.findall(r"<\d+>", "".join([*texts, *labels])))
    bare = rewrite_labels(rewrite_trajectory(whole, lambda _: "-"), lambda _: "-")
    assert not re.search(r"<\d+>", msgspec.json.encode(bare).decode())
    assert rewrite_labels(whole, lambda label: label) == whole
