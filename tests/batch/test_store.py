"""The target: incremental by input and by content, one spec, parts as a whole or not at all."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_traces import made_trace, ran_batch, rows, write_traces

from dense.batch.known import KnownKeys, KnownRows, RowIndex, place_hash
from dense.batch.queries.table import BatchTable
from dense.batch.spec import BatchSpec, WorkLimits
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
    assert (again.rows, again.copied, again.skipped, again.known) == (2, 1, 3, 1)
    assert len(rows(tmp_path / "out")) == 7
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
    assert (again.rows, again.failed, again.errors) == (2, 0, 0)
    assert (tmp_path / "out" / "_errors.jsonl").read_text() == ""
    assert _asked(tmp_path / "out", "error") == ["", ""]


def _asked(target: Path, column: str) -> list[str]:
    with closing(BatchTable(str(target))) as table:
        return [value for (value,) in table.ask(f"SELECT {column} FROM traces ORDER BY source, part")]


def test_a_changed_input_has_one_row_in_answers(tmp_path: Path) -> None:
    """A session that grew, one that was half written, and a file of lines of which one changed."""
    live, half, lines = (tmp_path / "in" / name for name in ("live.json", "half.jsonl", "lines.jsonl"))
    live.parent.mkdir()
    live.write_text(json.dumps(made_trace("Count a.")))
    half.write_bytes(b'{"type": "user", "message"')
    traces = [json.dumps(made_trace(f"Count {name}.")) + "\n" for name in "bcd"]
    lines.write_text("".join(traces))
    assert ran_batch(tmp_path / "out", tmp_path / "in").errors == 1
    live.write_text(json.dumps(made_trace("Count a.", ("wc -w a", "1"), ("wc -l a", "1"))))
    half.write_text(json.dumps(made_trace("Count half.")) + "\n")
    lines.write_text("".join([traces[0], traces[1].replace("Count c.", "Count x."), traces[2]]))
    again = ran_batch(tmp_path / "out", tmp_path / "in")
    assert (again.rows, again.known, again.errors) == (3, 2, 0)
    assert _asked(tmp_path / "out", "task") == ["Count half.", "Count b.", "Count x.", "Count d.", "Count a."]
    assert _asked(tmp_path / "out", "steps::VARCHAR")[-1] == "3"


def test_an_error_of_a_line_stays_when_the_file_grows(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    good, other = (json.dumps(made_trace(f"Count {name}.")) + "\n" for name in "ab")
    file.write_text(good + '{"messages": 7}\n')
    assert ran_batch(tmp_path / "out", file).errors == 1
    file.write_text(good + '{"messages": 7}\n' + other)
    assert ran_batch(tmp_path / "out", file).errors == 1
    assert [bool(error) for error in _asked(tmp_path / "out", "error")] == [False, True, False]


def test_the_target_is_no_input(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    for target in (tmp_path / "in" / "table", tmp_path / "in"):
        assert ran_batch(target, tmp_path / "in").rows == 2
        again = ran_batch(target, tmp_path / "in")
        assert (again.rows, again.skipped, again.listed, again.errors) == (0, 2, 0, 0)
        for path in target.glob("[p_]*"):
            path.unlink()


def test_a_command_that_fails_leaves_no_spec(tmp_path: Path) -> None:
    with pytest.raises(DenseError, match="no such file"):
        ran_batch(tmp_path / "out", tmp_path / "nowhere")
    assert not (tmp_path / "out" / "_spec.json").exists()
    write_traces(tmp_path / "in", 1)
    assert ran_batch(tmp_path / "out", tmp_path / "in", spec=BatchSpec(environment="same")).rows == 1
    with pytest.raises(DenseError, match="no such file"):
        ran_batch(tmp_path / "out", tmp_path / "nowhere", replaces=True)
    assert ran_batch(tmp_path / "out", tmp_path / "in", spec=BatchSpec(environment="same")).skipped == 1
    ran_batch(tmp_path / "out", tmp_path / "in", replaces=True)
    ran_batch(tmp_path / "out", tmp_path / "in", spec=BatchSpec(environment="same"), replaces=True)
    with closing(BatchTable(str(tmp_path / "out"))) as table:
        assert table.spec.environment == "same"


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


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9), st.booleans()), max_size=30))
def test_known_rows_are_the_newest_of_each_place(found: list[tuple[int, int, int, bool]]) -> None:
    """Compared with plain dictionaries, after a way through one block of bytes. Keys 0 and 1 are known if they fail."""
    keys = [f"{number:032x}" for number in range(4)]
    index = RowIndex()
    for part, (key, place, written, has_failed) in enumerate(found):
        index.add(keys[key], place_hash(str(place), ""), written, part, has_failed=has_failed)
    index.sort()
    known = KnownRows.unpacked(index.known(set(keys[:2]), map(str, range(len(found)))).packed())
    for key in range(4):
        rows = sorted((has_failed, part) for part, (one, _, _, has_failed) in enumerate(found) if one == key)
        is_known = bool(rows) and (not rows[0][0] or key < 2)
        assert known.part_of(keys[key]) == (str(rows[0][1]) if is_known else None)
        assert index.has_done(keys[key]) is (bool(rows) and not rows[0][0])
        for place in range(4):
            newest = max(
                ((written, not failed, one) for one, at, written, failed in found if at == place), default=None
            )
            is_placed = is_known and newest is not None and newest[2] == key
            assert known.is_placed(keys[key], str(place), "") is is_placed
