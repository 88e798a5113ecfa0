"""The whole report on disk: what is there, that it is the same every time, and that notes are on all of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from dense.errors import DenseError
from dense.report import Report, make
from dense.report.write import write_json, write_tables
from dense.results import ANALYST, RUN0, Cell, Experiment, Prices, Result
from dense.trajectory import Usage

NOTE = "Scripted recipient: these numbers say nothing about language models."


def small() -> Experiment:
    results: list[Result] = []
    for task in range(12):
        for repetition in range(2):
            for at, method in [(0, RUN0), *((r, m) for r in (1, 2) for m in ("none", "dense", "verifier-feedback"))]:
                solved = (task + repetition + (3 * at if method == "dense" else 0)) % 5 > 1
                results.append(
                    Result(
                        Cell("one", f"t{task}", repetition, at, method),
                        reward=None if (task, repetition, at) == (3, 1, 2) else float(solved),
                        usage=Usage(1000 + 10 * task, None, None, 100 + at),
                        feedback=None if at == 0 else Usage(100 * (method == "dense"), 0, 0, 0),
                        tool_calls=task,
                    )
                )
    return Experiment(
        "small",
        tuple(results),
        methods=("none", "dense", "verifier-feedback"),
        privileged=frozenset({"verifier-feedback"}),
        prices={"one": Prices(5, 30), ANALYST: Prices(0.5, 3)},
        notes=(NOTE,),
        facts={"b": 1, "a": {"z": 2, "y": 3}},
    )


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_same_experiment_gives_the_same_bytes(tmp_path: Path) -> None:
    reports = [make(small(), tmp_path / name, exclude=["t3"], draws=300) for name in ("a", "b")]
    assert reports[0] == reports[1]
    first, second = digests(tmp_path / "a"), digests(tmp_path / "b")
    assert first == second
    assert {"report.json", "index.html", "tables/pass.md", "tables/pass.csv", "tables/pass.tex"} <= set(first)
    assert any(name.startswith("figures/") and name.endswith(".svg") for name in first)


def test_report_json_reads_back(tmp_path: Path, published: Report) -> None:
    write_json(published, tmp_path)
    text = (tmp_path / "report.json").read_bytes()
    assert msgspec.json.decode(text, type=Report) == published
    assert json.loads(text)["schema"] == "dense.report/1"


def test_notes_are_on_every_table_and_in_the_json(tmp_path: Path) -> None:
    make(small(), tmp_path, draws=200)
    for path in [*tmp_path.glob("tables/*.md"), *tmp_path.glob("tables/*.tex")]:
        assert path.name == "all.tex" or NOTE in path.read_text(), path.name
    for path in tmp_path.glob("tables/*.csv"):
        assert NOTE in path.read_text() or len(path.read_text().splitlines()) == 1
    assert NOTE in (tmp_path / "report.json").read_text() and NOTE in (tmp_path / "index.html").read_text()


def test_tables_of_an_earlier_report_do_not_stay(tmp_path: Path, published: Report) -> None:
    old = tmp_path / "tables" / "sensitivity-of-yesterday.md"
    old.parent.mkdir()
    old.write_text("old")
    write_tables(published, tmp_path)
    assert not old.exists() and (tmp_path / "tables" / "sensitivity.md").is_file()
    document = (tmp_path / "tables" / "all.tex").read_text()
    names = {path.stem for path in old.parent.glob("*.tex")} - {"all"}
    assert {f"\\input{{{name}}}" for name in names} == set(document.splitlines()) & {
        line for line in document.splitlines() if line.startswith("\\input")
    }


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DenseError, match="cannot write the report"):
        make(small(), tmp_path / "file" / "report", draws=200)
