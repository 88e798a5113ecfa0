"""Questions about a table: counts, search, differences, and a page that no trace can forge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from made_traces import made_trace, ran_batch
from typer.testing import CliRunner

from dense.batch.queries.difference import difference
from dense.batch.queries.search import search
from dense.batch.queries.summary import summary
from dense.batch.queries.table import AnswerTable, BatchTable
from dense.batch.spec import BatchSpec
from dense.cli.app import app
from dense.cli.session.version import code_commit
from dense.errors import DenseError, WrongUsage
from dense.options import FeedbackOptions

FAILING = ("python3 count.py", "ModuleNotFoundError: No module named 'numpy'")
INSTALL = ("pip install numpy", "Successfully installed numpy-2.0")
HOSTILE = "Count <script>alert(1)</script> \x1b[31mred"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two traces with a failure, one without, one that is damaged."""
    folder = tmp_path_factory.mktemp("batch")
    source = folder / "in"
    source.mkdir()
    traces = {
        "a": made_trace("Count a.txt.", FAILING, INSTALL, ("python3 count.py", "3")),
        "b": made_trace(HOSTILE, FAILING),
        "c": made_trace("Count c.txt."),
    }
    for message in traces["c"]["messages"]:
        message["timestamp"] = "2026-11-18T04:05:06Z"
    for name, trace in traces.items():
        (source / f"{name}.json").write_text(json.dumps(trace))
    (source / "damaged.jsonl").write_bytes(b'{"type": "user", "message"')
    ran_batch(folder / "out", source, spec=BatchSpec(commit=code_commit()))
    return str(folder / "out")


@pytest.fixture
def table(place: str) -> Iterator[BatchTable]:
    with closing(BatchTable(place)) as opened:
        yield opened


def named(tables: list[AnswerTable], name: str) -> list[dict[str, Any]]:
    found = next(table for table in tables if table.name == name)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_the_summary_counts(table: BatchTable) -> None:
    tables = summary(table)
    assert sum(row["traces"] for row in named(tables, "states")) == 4
    assert named(tables, "families") == [
        {"family": "no_such_module", "failures": 2, "traces": 2, "recovered": 0.5, "most frequent subject": "numpy"}
    ]
    assert named(tables, "tools")[0]["program"] == "python count.py"
    assert {row["task"] for row in named(tables, "by_task")} >= {"Count a.txt.", "Count c.txt."}
    assert [row["week"] for row in named(tables, "by_week")] == ["2026-11-16", "(unknown)"]
    assert ("started", "2026-11-18 to 2026-11-18") in tables[0].rows


def test_search_names_the_most_telling_place(table: BatchTable) -> None:
    count, matches = search(table, "NO MODULE named", 1)
    assert count == 2 and len(matches) == 1
    count, (match,) = search(table, "count c.txt")
    assert (count, match.holder, match.excerpt) == (1, "task", "Count c.txt.")
    assert search(table, "%")[0] == 0  # no pattern


def test_the_difference_of_two_tables(place: str, tmp_path: Path) -> None:
    source = Path(place).parent / "in"
    ran_batch(tmp_path / "b", source, spec=BatchSpec(options=FeedbackOptions(environment="same")))
    with closing(BatchTable(place)) as first, closing(BatchTable(str(tmp_path / "b"))) as second:
        tables = difference(first, second)
    changes = next(table for table in tables if table.name == "changes")
    assert changes.note == "3 traces are in both tables; 0 have another state"
    assert all(row["share A"] == row["share B"] for row in named(tables, "states"))
    assert len(named(tables, "tasks")) == 3


def test_the_commands(place: str, tmp_path: Path) -> None:
    run = CliRunner()
    text = run.invoke(app, ["batch", "summary", place]).output
    assert "Error families" in text and "no_such_module" in text and "\x1b" not in text
    found = json.loads(run.invoke(app, ["batch", "summary", place, "--json"]).output)
    assert found["overview"][0]["traces"] == 4
    assert run.invoke(app, ["batch", "search", place, "nowhere at all"]).exit_code == 1
    assert "2 traces" in run.invoke(app, ["batch", "search", place, "numpy"]).output
    assert "The same traces" in run.invoke(app, ["batch", "diff", place, place]).output
    html = tmp_path / "found.html"
    assert run.invoke(app, ["batch", "search", place, "alert", "--limit", "5", "--html", str(html)]).exit_code == 0
    assert "&lt;script&gt;alert(1)" in html.read_text() and "1 trace<" in html.read_text()
    html = tmp_path / "page.html"
    assert run.invoke(app, ["batch", "summary", place, "--html", str(html)]).exit_code == 0
    page = html.read_text()
    assert html.stat().st_mode & 0o077 == 0
    assert "&lt;script&gt;alert(1)" in page and "<script" not in page


def test_no_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DenseError, match="no table of `dense batch` there"):
        BatchTable(str(tmp_path))


def test_a_run_that_does_nothing_says_what_has_no_feedback(place: str) -> None:
    again = CliRunner().invoke(app, ["batch", str(Path(place).parent / "in"), "--out", place, "--quiet"])
    assert "1 trace of the table has no feedback: see _errors.jsonl" in again.output
    assert again.exit_code == 1


def test_a_page_that_cannot_be_written_is_named(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for html in (tmp_path, tmp_path / "link", tmp_path / "file" / "page.html"):
        error = CliRunner().invoke(app, ["batch", "summary", place, "--html", str(html)]).exception
        assert isinstance(error, DenseError) and f"--html {html}: " in str(error)


def test_tasks_with_the_same_beginning_are_two(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        trace = made_trace("Count the words of this folder. " * 20 + f"Write them to {name}.txt.")
        (tmp_path / "in" / f"{name}.json").write_text(json.dumps(trace))
        (tmp_path / "in" / f"{name}-again.json").write_text(json.dumps(trace))
    ran_batch(tmp_path / "out", tmp_path / "in")
    with closing(BatchTable(str(tmp_path / "out"))) as table:
        assert [row["traces"] for row in named(summary(table), "by_task")] == [1, 1]  # equal traces are one
        assert len(named(difference(table, table), "tasks")) == 2


@pytest.mark.parametrize(
    ("option", "words"), [("--format", "unknown format 'nope'; known are"), ("--model", "no provider 'nope'")]
)
def test_an_unknown_format_or_model_is_wrong_usage(tmp_path: Path, option: str, words: str) -> None:
    run = CliRunner().invoke(app, ["batch", str(tmp_path), "--out", str(tmp_path / "out"), option, "nope"])
    assert isinstance(run.exception, WrongUsage) and words in str(run.exception)
    assert not (tmp_path / "out").exists()


def test_a_spending_limit_on_ray_is_wrong_usage(tmp_path: Path) -> None:
    command = ["batch", str(tmp_path), "--out", str(tmp_path / "out"), "--model", "openai/x", "--max-usd", "1"]
    run = CliRunner().invoke(app, [*command, "--engine", "ray"])
    assert isinstance(run.exception, WrongUsage) and "--max-usd and --engine ray exclude each other" in str(
        run.exception
    )
    assert not (tmp_path / "out").exists()


def test_the_help_has_the_options_of_a_run_and_the_spec_the_commit(place: str) -> None:
    shown = CliRunner().invoke(app, ["batch", "--help"]).output
    assert all(option in shown for option in ("--out DST", "--shard I/N", "--retry-errors", "summary", "search"))
    spec = json.loads((Path(place) / "_spec.json").read_text())
    assert spec["commit"] == code_commit() != ""


def test_a_source_without_traces_says_so(tmp_path: Path) -> None:
    (tmp_path / "in" / "node_modules").mkdir(parents=True)
    (tmp_path / "in" / "notes.md").write_text("notes")
    (tmp_path / "in" / "page.html").write_text("<p>")
    command = ["batch", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--quiet"]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 1
    assert "skipped: 2 files of no known format (1 .md, 1 .html)" in first.output
    assert "no trace found in" in first.output and "--format" in first.output and "add-a-reader" in first.output
    assert CliRunner().invoke(app, command).exit_code == 1
    with_format = CliRunner().invoke(app, [*command, "--format", "messages"])
    assert "other settings" not in str(with_format.exception)
