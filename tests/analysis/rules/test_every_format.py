"""The rules on every trace that there is: each judgement usable, at once, the same every time."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dense.analysis.rules import RulesAnalyst
from dense.options import FeedbackOptions
from dense.readers import UnreadFile, files_of, read_file
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory


def problems(path: Path) -> tuple[int, list[str]]:
    """How many trajectories a folder holds, and what could not be used."""
    count, found = 0, list[str]()
    for file in files_of(path):
        for item in read_file(file):
            if isinstance(item, UnreadFile):
                continue
            trajectory = item.collect()
            count += 1
            done = distill_sync(trajectory, RulesAnalyst())
            found += [f"{trajectory.source}: {problem}" for problem in done.reconciled.problems]
    return count, found


def test_every_fixture(fixtures: Path) -> None:
    count, found = problems(fixtures)
    assert count > 60
    assert found == []


def test_every_trace_of_the_corpus(corpus: Path) -> None:
    count, found = problems(corpus)
    assert count > 120
    assert found == []


words = st.sampled_from(
    [
        *("", "ls", "pytest -q", "1 failed, 2 passed in 1s", "`a.txt`", "cat > a.txt <<E\nx\nE", "rm a.txt", "submit"),
        *(
            "Traceback (most recent call last):\nKeyError: 'x'",
            "\x1b[31m",
            "</report>",
            "無",
            "write `a.txt`",
            "python a.py",
        ),
    ]
)
texts = st.one_of(words, st.text(max_size=30))
calls = st.builds(
    lambda name, text: ToolCall(name, {"command": text}, "c"), st.sampled_from(["bash", "x", "edit"]), texts
)
observations = st.builds(
    Observation,
    texts,
    call_id=st.sampled_from([None, "c"]),
    origin=st.sampled_from(["tool", "user", "system"]),
    is_error=st.sampled_from([None, True, False]),
    exit_code=st.sampled_from([None, 0, 1, 137]),
)
steps = st.builds(
    lambda message, called, seen: Step(Source("made"), message, "", tuple(called), tuple(seen)),
    texts,
    st.lists(calls, max_size=3),
    st.lists(observations, max_size=3),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(steps, min_size=1, max_size=30), st.one_of(st.none(), texts.map(Task)), st.sampled_from(["fast", "paper"])
)
def test_whatever_a_trace_holds(made: list[Step], task: Task | None, profile: str) -> None:
    trajectory = Trajectory("made", "made", Source("made"), task=task, steps=tuple(made))
    options = FeedbackOptions(profile="paper" if profile == "paper" else "fast")
    first = distill_sync(trajectory, RulesAnalyst(), options=options)
    again = distill_sync(trajectory, RulesAnalyst(), options=options)
    assert first.reconciled.problems == ()
    assert first.feedback.message == again.feedback.message
