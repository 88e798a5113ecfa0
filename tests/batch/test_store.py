"""The target: incremental by input and by content, one spec, parts as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_traces import ran_batch, rows, write_traces

from dense.batch.spec import BatchSpec, WorkLimits
from dense.batch.store import KnownKeys
from dense.errors import DenseError


@given(st.sets(st.binary(min_size=16, max_size=16)), st.binary(min_size=16, max_size=16))
def test_known_keys_are_a_set(keys: set[bytes], other: bytes) -> None:
    known = KnownKeys.of(key.hex() for key in keys)
    assert len(known) == len(keys)
    assert all(key.hex() in known for key in keys)
    assert (other.hex() in known) is (other in keys)


def test_a_second_run_does_only_what_is_new(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 5)
    assert ran_batch(tmp_path / "out", tmp_path / "in").rows == 5
    write_traces(tmp_path / "in", 1, start=5)
    (tmp_path / "in" / "trace-0000.json").rename(tmp_path / "in" / "moved.json")
    os.utime(tmp_path / "in" / "trace-0001.json")
    again = ran_batch(tmp_path / "out", tmp_path / "in")
    assert (again.rows, again.skipped, again.known) == (1, 3, 2)
    assert len(rows(tmp_path / "out")) == 6
    assert ran_batch(tmp_path / "out", tmp_path / "in").skipped == 6
    assert ran_batch(tmp_path / "out", tmp_path / "in" / ".." / "in").skipped == 6


def test_another_spec_is_refused_or_replaces(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    ran_batch(tmp_path / "out", tmp_path / "in")
    other = BatchSpec(environment="same")
    with pytest.raises(DenseError, match="environment: 'fresh' → 'same'"):
        ran_batch(tmp_path / "out", tmp_path / "in", spec=other)
    assert ran_batch(tmp_path / "out", tmp_path / "in", spec=other, replaces=True).rows == 2


def test_errors_are_tried_again_on_request(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    tiny = WorkLimits(max_bytes=100)
    assert ran_batch(tmp_path / "out", tmp_path / "in", limits=tiny).failed == 2
    assert ran_batch(tmp_path / "out", tmp_path / "in").skipped == 2
    again = ran_batch(tmp_path / "out", tmp_path / "in", retry_errors=True)
    assert (again.rows, again.failed) == (2, 0)


def test_parts_are_private_and_left_whole(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    stale = tmp_path / "out" / ".part-0-x.parquet.1.tmp"
    stale.parent.mkdir()
    stale.write_bytes(b"half of a part")
    os.utime(stale, (0, 0))
    ran_batch(tmp_path / "out", tmp_path / "in")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert [name.partition("-")[0] for name in names] == ["_errors.jsonl", "_spec.json", "part"]
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "out").iterdir()} == {0}


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 1)
    ran_batch(tmp_path / "out", tmp_path / "in")
    (tmp_path / "out" / "part-0-bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(DenseError, match=r"part-0-bad.parquet: not a part"):
        ran_batch(tmp_path / "out", tmp_path / "in")
