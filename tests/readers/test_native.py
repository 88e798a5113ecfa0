"""Normalised JSON: streamed and whole give the same bytes, and reading it back loses nothing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dense
from dense.errors import NoTrajectory
from dense.readers import Stream, read_streams
from dense.trajectory import SCHEMA, Notice, Observation, Source, Step, Task, ToolCall, Trajectory, Usage

FIXTURES = Path(__file__).parents[1] / "fixtures"

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
maybe = st.none() | text
counts = st.none() | st.integers(0, 10**12)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
sources = st.builds(Source, text, counts, counts, maybe)
usages = st.builds(Usage, counts, counts, counts, counts, st.none() | st.floats(0, 1e6))
calls = st.builds(ToolCall, text, st.dictionaries(text, json_values, max_size=3), maybe)
origins = st.sampled_from(["tool", "user", "system"])
observations = st.builds(Observation, text, maybe, origins, st.none() | st.booleans(), st.none() | st.integers(-1, 255))
notices = st.builds(Notice, st.sampled_from(["skipped", "repaired", "note"]), text, sources)


def tuples[T](inner: st.SearchStrategy[T], least: int = 0) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(inner, min_size=least, max_size=3).map(tuple)


def trajectories(steps: st.SearchStrategy[Step]) -> st.SearchStrategy[Trajectory]:
    tasks = st.none() | st.builds(Task, text, maybe, st.sampled_from(["trace", "file", "option"]))
    return st.builds(
        Trajectory,
        text,
        text,
        sources,
        maybe,
        maybe,
        maybe,
        tasks,
        tuples(steps, 1),
        st.none() | usages,
        tuples(notices),
    )


def steps_with(subagents: st.SearchStrategy[tuple[Trajectory, ...]]) -> st.SearchStrategy[Step]:
    return st.builds(
        Step,
        sources,
        text,
        text,
        tuples(calls),
        tuples(observations),
        maybe,
        maybe,
        maybe,
        st.none() | usages,
        subagents,
    )


plain = trajectories(steps_with(st.just(())))
nested = trajectories(steps_with(tuples(plain)))


@given(st.lists(nested, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_reading_back_loses_nothing(tmp_path_factory: pytest.TempPathFactory, written: list[Trajectory]) -> None:
    path = tmp_path_factory.mktemp("native") / "normalised.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(trajectory) + b"\n" for trajectory in written))
    read = [item.collect() for item in read_streams(path) if isinstance(item, Stream)]
    if all(trajectory.task for trajectory in written):
        assert read == written
    else:  # a trace without a task is noted once more each time
        assert [msgspec.structs.replace(t, notices=()) for t in read] == [
            msgspec.structs.replace(t, notices=()) for t in written
        ]


@pytest.mark.parametrize(
    "folder",
    sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name not in ("make", "test-runners")),
)
def test_streamed_and_collected_are_the_same_bytes(folder: str, tmp_path: Path) -> None:
    collected = [item.collect() for item in read_streams(FIXTURES / folder) if isinstance(item, Stream)]
    assert collected
    out = io.BytesIO()
    for item in read_streams(FIXTURES / folder):
        if isinstance(item, Stream):
            out.writelines(item.encode())
            out.write(b"\n")
    assert out.getvalue() == b"".join(msgspec.json.encode(trajectory) + b"\n" for trajectory in collected)
    (tmp_path / "all.jsonl").write_bytes(out.getvalue())
    assert list(dense.read(tmp_path / "all.jsonl")) == collected


def test_a_newer_schema_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    path.write_text(
        '{"schema":"dense.trajectory/99","format":"x","id":"x","source":{"path":"x"}}\n{"schema":"dense.trajectory/99"}\n'
    )
    with pytest.raises(NoTrajectory, match=f"this version reads '{SCHEMA}'"):
        list(dense.read(path))
