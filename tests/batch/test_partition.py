"""From inputs to rows: what a row says, that a bad one costs only itself, that known ones are not made again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]
import pytest
from made_traces import made_trace, ran_batch, rows, write_traces

from dense.batch.partition import parsed_time
from dense.batch.spec import BatchSpec, WorkLimits

FIXTURES = Path(__file__).parents[1] / "fixtures"


def test_a_row_says_what_the_trace_shows(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    steps = (
        ("python3 count.py", "ModuleNotFoundError: No module named 'numpy'"),
        ("pip install numpy", "Successfully installed numpy-2.0"),
        ("python3 count.py", "42"),
    )
    (source / "one.json").write_text(json.dumps(made_trace("Write the number of words to count.txt.", *steps)))
    progress = ran_batch(tmp_path / "out", source)
    (row,) = rows(tmp_path / "out")
    assert (progress.rows, progress.failed) == (1, 0)
    assert row["source"] == str(source / "one.json")
    assert (row["format"], row["steps"], row["calls"]) == ("messages", 4, 3)
    assert row["task"] == "Write the number of words to count.txt."
    assert row["state"] in ("incomplete", "unknown")
    assert [issue["code"] for issue in row["issues"] if issue["is_open"]]
    assert "count.txt" in row["message"] and row["message_bytes"] == len(row["message"].encode())
    (failure,) = row["failures"]
    assert (failure["family"], failure["subject"], failure["action"]) == ("no_such_module", "numpy", 1)
    assert failure["recovery"] == 3
    assert (row["analyst"], row["analyst_usd"], row["error"]) == ("rules", 0.0, "")


def test_the_same_input_gives_the_same_rows(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 3)
    ran_batch(tmp_path / "a", tmp_path / "in")
    ran_batch(tmp_path / "b", tmp_path / "in")
    assert rows(tmp_path / "a") == rows(tmp_path / "b") != []


def test_bad_rows_cost_only_themselves(tmp_path: Path) -> None:
    """A line beyond the limit, invalid UTF-8, 200,000 levels, no JSON: each costs its own row."""
    good = [json.dumps(made_trace(f"Count the words of {name}.txt.")).encode() for name in ("a", "b", "c")]
    invalid = good[0].replace(b"a.txt", b"\xff\xfe.txt")
    nested = b'{"messages":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    too_long = b'{"messages": "' + b"x" * 3_000_000 + b'"}'
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\n".join([good[0], too_long, invalid, good[1], nested, b"{broken", b"", good[2]]) + b"\n")
    progress = ran_batch(tmp_path / "out", file, limits=WorkLimits(max_bytes=2_000_000))
    found = sorted(rows(tmp_path / "out"), key=lambda row: int(row["part"].removeprefix("byte ")))
    assert [bool(row["error"]) for row in found] == [False, True, False, False, True, True, False]
    assert "longer than 1 MiB" in found[1]["error"]
    assert found[2]["notices"] == 1
    assert (progress.rows, progress.failed, progress.errors) == (7, 3, 3)
    errors = [json.loads(line) for line in (tmp_path / "out" / "_errors.jsonl").read_text().splitlines()]
    assert {error["part"] for error in errors} == {found[place]["part"] for place in (1, 4, 5)}


def test_appended_rows_are_the_only_ones_that_are_made(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    lines = [json.dumps(made_trace(f"Count the words of {name}.txt.")) for name in "abcd"]
    file.write_text("\n".join(lines[:3]) + "\n")
    assert ran_batch(tmp_path / "out", file).rows == 3
    file.write_text("\n".join(lines) + "\n")
    again = ran_batch(tmp_path / "out", file)
    assert (again.rows, again.known) == (1, 3)


def test_parquet_with_a_messages_column_or_a_trace_as_text(tmp_path: Path) -> None:
    traces = [made_trace(f"Count the words of {name}.txt.") for name in "ab"]
    table = pyarrow.table({"id": ["one", "two"], "messages": [json.dumps(trace["messages"]) for trace in traces]})
    pyarrow.parquet.write_table(table, tmp_path / "text.parquet")
    nested = pyarrow.Table.from_pylist(
        [{"messages": [{"role": "user", "content": "Say hi."}, {"role": "assistant", "content": "hi"}], "reward": 1.0}]
    )
    pyarrow.parquet.write_table(nested, tmp_path / "nested.parquet")
    assert ran_batch(tmp_path / "out", tmp_path / "text.parquet", tmp_path / "nested.parquet").failed == 0
    found = rows(tmp_path / "out")
    assert [(Path(row["source"]).name, row["part"], row["steps"]) for row in found] == [
        ("nested.parquet", "row 0", 1), ("text.parquet", "row 0", 2), ("text.parquet", "row 1", 2)]  # fmt: skip


def test_sessions_and_event_folders_are_one_trace_each(tmp_path: Path) -> None:
    """A session of Claude Code has a line for each record: its lines are no rows."""
    progress = ran_batch(tmp_path / "out", FIXTURES / "claude-code", FIXTURES / "openhands")
    found = rows(tmp_path / "out")
    assert progress.rows == len(found) == len({row["key"] for row in found})
    assert {row["format"] for row in found if not row["error"]} == {"claude-code", "openhands"}
    assert not any(row["part"].startswith("byte") for row in found if row["format"] == "claude-code")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-18T04:05:06Z", datetime(2026, 11, 18, 4, 5, 6, tzinfo=UTC)),
        ("2026-11-18T05:05:06+01:00", datetime(2026, 11, 18, 4, 5, 6, tzinfo=UTC)),
        ("1794974706", datetime(2026, 11, 18, 4, 5, 6, tzinfo=UTC)),
        ("1794974706000", datetime(2026, 11, 18, 4, 5, 6, tzinfo=UTC)),
        ("yesterday", None),
        ("9" * 400, None),
    ],
)
def test_times_of_traces(text: str, time: datetime | None) -> None:
    assert parsed_time(text) == time


def test_a_column_that_is_missing_is_named_with_those_there_are(tmp_path: Path) -> None:
    table = pyarrow.table({"id": [1], "trace": [json.dumps(made_trace())]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    ran_batch(tmp_path / "out", tmp_path / "rows.parquet", spec=BatchSpec(column="nope"))
    (row,) = rows(tmp_path / "out")
    assert row["error"] == "no column 'nope' (--column); there are id, trace"
