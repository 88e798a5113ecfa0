"""Which inputs there are, how large files are split, and that shards share all inputs without overlap."""

from __future__ import annotations

import io
import json
from pathlib import Path

import fsspec  # pyright: ignore[reportMissingTypeStubs]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_traces import InlineEngine, made_trace, ran_batch, rows, write_traces

from dense.batch import sources
from dense.batch.row_files import has_rows, lines
from dense.batch.run import BatchRequest, run_batch
from dense.batch.sources import ITEM_BYTES, MIN_PARTITION_BYTES, WorkItem, shares
from dense.batch.spec import BatchSpec
from dense.errors import NoTrajectory


@settings(max_examples=40)
@given(
    st.lists(st.binary(max_size=40).map(lambda text: text.replace(b"\n", b" ")), max_size=12),
    st.integers(1, 30),
    st.booleans(),
)
def test_ranges_cover_each_line_once(texts: list[bytes], step: int, is_ended: bool) -> None:
    data = b"\n".join(texts) + b"\n" * is_ended
    whole = list(lines(io.BytesIO(data), 1_000))
    ranges = [(start, min(start + step, len(data))) for start in range(0, len(data), step)]
    parts = [one for start, end in ranges for one in lines(io.BytesIO(data), 1_000, start, end)]
    assert parts == whole
    assert [line.strip() for _, line in whole if line] == [text.strip() for text in texts if text.strip()]


def test_ranges_within_one_huge_line_are_not_read_to_its_end() -> None:
    data = io.BytesIO(b"x" * 10_000_000 + b"\n{}\n")
    assert list(lines(data, 1_000, 1_000_000, 1_500_000)) == []
    assert data.tell() < 4_000_000


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_line_beyond_the_limit_is_none(length: int, limit: int) -> None:
    data = b"x" * length + b"\nshort\n"
    first, *_ = lines(io.BytesIO(data), limit)
    assert first == (0, None if length + 1 > limit else data[: length + 1])


def test_a_large_file_of_rows_is_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(made_trace(f"Count the words of {n}.txt.")) + "\n" for n in range(20)))
    ran_batch(tmp_path / "whole", file)
    monkeypatch.setattr(sources, "SPLIT_BYTES", 1_000)
    items = list(sources.items([str(file)]))
    assert len(items) > 3 and {item.kind for item in items} == {"lines"}
    ran_batch(tmp_path / "split", file)
    without = [{**row, "item": ""} for row in rows(tmp_path / "split")]
    assert without == [{**row, "item": ""} for row in rows(tmp_path / "whole")]


def test_shards_share_all_inputs(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 30)
    ran_batch(tmp_path / "one", tmp_path / "in")
    counts = [ran_batch(tmp_path / "four", tmp_path / "in", shard=shard, shards=4).rows for shard in range(4)]
    assert sum(counts) == 30 and min(counts) > 0
    assert rows(tmp_path / "four") == rows(tmp_path / "one")


def test_a_remote_source_and_target(tmp_path: Path) -> None:
    """By fsspec's file system in memory; an S3 server is in `bench/batch.py` and `make test-batch`."""
    system = fsspec.filesystem("memory")
    write_traces(tmp_path / "in", 4)
    ran_batch(tmp_path / "out", tmp_path / "in")
    try:
        system.put(str(tmp_path / "in"), "/bucket/in", recursive=True)
        trial = {
            "/bucket/trials/t1/agent/trajectory.json": json.dumps(made_trace()),
            "/bucket/trials/t1/verifier/reward.txt": "1",
        }
        for name, text in trial.items():
            system.pipe_file(name, text.encode())
        assert ran_batch("memory://bucket/out", "memory://bucket/in").rows == 4
        assert ran_batch("memory://bucket/out", "memory://bucket/in").skipped == 4
        remote, local = rows("memory://bucket/out"), rows(tmp_path / "out")
        assert [row["message"] for row in remote] == [row["message"] for row in local]
        assert remote[0]["source"] == "memory:///bucket/in/trace-0000.json"
        assert system.exists("/bucket/out/_errors.jsonl") and system.exists("/bucket/out/_spec.json")
        ran_batch("memory://bucket/trials-out", "memory://bucket/trials")
        assert [row["source"] for row in rows("memory://bucket/trials-out")] == [
            "memory:///bucket/trials/t1/agent/trajectory.json"
        ]
    finally:
        system.rm("/bucket", recursive=True)


def test_a_missing_source_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoTrajectory, match="no such file"):
        ran_batch(tmp_path / "out", tmp_path / "missing")


@pytest.mark.parametrize(
    ("text", "are_rows"),
    [
        (json.dumps(made_trace()), True),
        ("{broken\n" + json.dumps(made_trace()), True),
        ('{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hi"}', False),
        ('{"type": "session_meta", "payload": {}}', False),
        ("no JSON at all", False),
        ("", False),
    ],
)
def test_which_files_have_a_trace_in_each_line(text: str, are_rows: bool) -> None:
    assert has_rows(io.BytesIO(text.encode())) is are_rows


@given(st.lists(st.integers(0, 40_000_000), max_size=300), st.integers(1, 64))
def test_the_last_partitions_hold_all_and_become_smaller(sizes: list[int], workers: int) -> None:
    found = [WorkItem(f"/{number}", size=size) for number, size in enumerate(sizes)]
    groups = list(shares(found, workers))
    assert sorted(item.uri for group in groups for item in group) == sorted(item.uri for item in found)
    costs = [sum(item.size + ITEM_BYTES for item in group) for group in groups]
    total = sum(costs)
    for group, cost in zip(groups, costs, strict=True):
        room = max(total // (2 * workers), MIN_PARTITION_BYTES)
        assert cost - group[-1].size - ITEM_BYTES < room  # without its last item it is below its share
        total -= cost


def test_workers_get_the_largest_inputs_of_the_end_first(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 120)
    (tmp_path / "in" / "zz.json").write_text(json.dumps(made_trace("Count.", ("cat big", "x" * 600_000))))
    engine = InlineEngine(2)
    run_batch(BatchRequest((str(tmp_path / "in"),), str(tmp_path / "out"), BatchSpec()), engine)
    names = [Path(item.uri).name for partition in engine.partitions for item in partition.items]
    assert len(engine.partitions) > 1 and sorted(names) == sorted(path.name for path in (tmp_path / "in").iterdir())
    assert names[0] == "zz.json"
