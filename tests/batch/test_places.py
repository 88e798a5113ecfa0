"""The same trace at several places: a row for each, made once, whenever and wherever it is found."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from loopback import USABLE, Loopback, failing, ok
from made_traces import made_trace, ran_batch, rows

from dense.batch import partition
from dense.batch.queries.search import search
from dense.batch.queries.table import BatchTable
from dense.batch.spec import BatchSpec
from dense.options import FeedbackOptions

FIXTURES = Path(__file__).parents[1] / "fixtures"
FORMATS = ("claude-code", "codex", "messages", "swe-agent", "openhands", "gemini-cli", "tau-bench", "atif", "inspect")


def _asked(target: Path, question: str) -> list[tuple[object, ...]]:
    with closing(BatchTable(str(target))) as table:
        return table.ask(question)


def _places(target: Path) -> list[tuple[object, ...]]:
    return _asked(target, "SELECT task, parse_filename(source), places FROM traces ORDER BY 1")


def test_a_copy_has_the_row_that_its_own_analysis_would_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of traces of many formats: found in one run, in two runs, by two shards one after the other."""
    first, second = tmp_path / "in" / "a", tmp_path / "in" / "b" / "projects" / "other"
    for name in FORMATS:
        if (FIXTURES / name).is_dir():
            shutil.copytree(FIXTURES / name, first / name)
            shutil.copytree(FIXTURES / name, second / name)
    at_once = ran_batch(tmp_path / "at-once", tmp_path / "in")
    for shard in range(2):
        ran_batch(tmp_path / "shards", tmp_path / "in", shard=shard, shards=2)
    ran_batch(tmp_path / "later", first)
    monkeypatch.delattr(partition, "make_feedback")  # nothing is analysed twice
    again = ran_batch(tmp_path / "later", tmp_path / "in")
    assert at_once.rows > 40
    assert (again.rows, again.copied + again.failed) == (at_once.rows // 2, at_once.rows // 2)
    expected = [{**row, "item": ""} for row in rows(tmp_path / "at-once")]
    assert [{**row, "item": ""} for row in rows(tmp_path / "later")] == expected
    assert rows(tmp_path / "shards") == rows(tmp_path / "at-once")


def test_a_trace_stays_where_its_copy_is_when_its_first_place_has_another(tmp_path: Path) -> None:
    one, two = tmp_path / "in" / "one.json", tmp_path / "in" / "two.json"
    one.parent.mkdir()
    one.write_text(json.dumps(made_trace("Count a.")))
    ran_batch(tmp_path / "out", tmp_path / "in")
    shutil.copy(one, two)
    assert ran_batch(tmp_path / "out", tmp_path / "in").copied == 1
    assert [row[2] for row in _places(tmp_path / "out")] == [2]
    with closing(BatchTable(str(tmp_path / "out"))) as table:
        ((found,),) = [search(table, "Count a")[1]]
    assert found.places == 2
    one.write_text(json.dumps(made_trace("Count b.")))
    ran_batch(tmp_path / "out", tmp_path / "in")
    assert _places(tmp_path / "out") == [("Count a.", "two.json", 1), ("Count b.", "one.json", 1)]
    one.write_text(json.dumps(made_trace("Count a.")))  # as it was: its newest row counts
    again = ran_batch(tmp_path / "out", tmp_path / "in")
    assert (again.rows, again.copied) == (1, 1)
    assert [row[::2] for row in _places(tmp_path / "out")] == [("Count a.", 2)]


def test_lines_that_moved_keep_their_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    lines = [json.dumps(made_trace(f"Count the words of {name}.txt.")) + "\n" for name in ("a", "b", "longer")]
    file.write_text(lines[0] + lines[1])
    ran_batch(tmp_path / "out", file)
    file.write_text(lines[2] + lines[0] + lines[1])
    again = ran_batch(tmp_path / "out", file)
    assert (again.rows, again.copied) == (3, 2)
    assert _asked(tmp_path / "out", "SELECT count(*) FROM traces") == [(3,)]


def test_a_file_of_several_traces_is_known_by_each_of_them(tmp_path: Path) -> None:
    """A call of one of them failed: the next run makes its row, and copies or leaves the others."""
    file = tmp_path / "in" / "both.json"
    file.parent.mkdir()
    traces = [{"id": f"t{number}", **made_trace(f"Count {number}.")} for number in range(3)]
    file.write_text(json.dumps(traces))
    with Loopback(ok(USABLE), ok(USABLE), failing(400), default=ok(USABLE)) as server:
        spec = BatchSpec(options=FeedbackOptions(model=f"{server.url}#m"))
        first = ran_batch(tmp_path / "out", tmp_path / "in", spec=spec)
        assert (first.rows, first.failed, first.done) == (3, 1, 0)
        again = ran_batch(tmp_path / "out", tmp_path / "in", spec=spec)
    assert (again.rows, again.known, again.failed) == (1, 2, 0)
    assert _asked(tmp_path / "out", "SELECT count(*), count(*) FILTER (error = '') FROM traces") == [(3, 3)]
