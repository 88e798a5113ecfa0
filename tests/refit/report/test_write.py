"""The whole report on disk: what is there, that it is the same every time, and that notes are on all of it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from made_result import with_attempt

from dense.errors import DenseError
from dense.trajectory import Usage
from refit.report import Report, build, make
from refit.report.write import write_json, write_tables
from refit.results import ANALYST, RUN0, AttemptResult, Cell, Experiment, Prices, Result

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
                        AttemptResult(
                            reward=None if (task, repetition, at) == (3, 1, 2) else float(solved),
                            usage=Usage(1000 + 10 * task, None, None, 100 + at),
                            tool_calls=task,
                        ),
                        feedback=None if at == 0 else Usage(100 * (method == "dense"), 0, 0, 0),
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


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Report]:
    """The same report, written into two folders."""
    folders = [tmp_path_factory.mktemp(name) for name in "ab"]
    return {folder: make(small(), folder, exclude=["t3"], draws=300) for folder in folders}


def test_the_same_experiment_gives_the_same_bytes(twice: dict[Path, Report]) -> None:
    one, other = twice.values()
    assert one == other
    first, second = (digests(folder) for folder in twice)
    assert first == second
    assert {"report.json", "index.html", "tables/pass.md", "tables/pass.csv", "tables/pass.tex"} <= set(first)
    assert any(name.startswith("figures/") and name.endswith(".svg") for name in first)


def test_hashes_decide_nothing(tmp_path: Path) -> None:
    """Sets of pairs come in another order in every process; numbers do not."""
    lossy = [
        with_attempt(one, reward=None) if one.cell.round and at % 5 == 0 else one
        for at, one in enumerate(small().results)
    ]
    (tmp_path / "experiment.json").write_bytes(
        msgspec.json.encode(msgspec.structs.replace(small(), results=tuple(lossy)))
    )
    code = (
        "import sys, msgspec; from pathlib import Path; from refit.results import Experiment;"
        "from refit.report import build; from refit.report.write import write_json; place = Path(sys.argv[1]);"
        "whole = msgspec.json.decode((place / 'experiment.json').read_bytes(), type=Experiment);"
        "(place / sys.argv[2]).mkdir(); write_json(build(whole, draws=200), place / sys.argv[2])"
    )
    texts: list[bytes] = []
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(tmp_path), seed], env=env, check=True, timeout=120)
        texts.append((tmp_path / seed / "report.json").read_bytes())
    assert texts[0] == texts[1] and b'"worst": {' in texts[0]


def test_report_json_reads_back(tmp_path: Path, published: Report) -> None:
    write_json(published, tmp_path)
    text = (tmp_path / "report.json").read_bytes()
    assert msgspec.json.decode(text, type=Report) == published
    assert json.loads(text)["schema"] == "dense.report/2"


def test_notes_are_on_every_table_and_in_the_json(twice: dict[Path, Report]) -> None:
    folder, _ = twice
    for path in [*folder.glob("tables/*.md"), *folder.glob("tables/*.tex")]:
        assert path.name == "all.tex" or NOTE in path.read_text(), path.name
    for path in folder.glob("tables/*.csv"):
        assert NOTE in path.read_text() or len(path.read_text().splitlines()) == 1
    assert NOTE in (folder / "report.json").read_text() and NOTE in (folder / "index.html").read_text()


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


def odd(name: str) -> Experiment:
    cells = [Cell("one", f"t{at}", 0, round, "dense" if round else RUN0) for at in range(3) for round in (0, 1)]
    results = [Result(cell, AttemptResult(reward=1.0, seconds=2.0, usage=Usage(10, None, None, 10))) for cell in cells]
    match name:
        case "no number":
            results[0] = with_attempt(results[0], reward=math.nan)
        case "endless":
            results[0] = with_attempt(results[0], seconds=math.inf, usage=Usage(1, None, None, 1, math.inf))
        case _:
            half = "\ud800"
            results = [
                Result(
                    Cell(
                        f"r{half}", f"{one.cell.task}{half}", 0, one.cell.round, f"m{half}" if one.cell.round else RUN0
                    ),
                    AttemptResult(reward=one.attempt.reward),
                )
                for one in results
            ]
            results[1] = with_attempt(results[1], reward=None, exception=half, trace=f"x{half}/y")
            return Experiment(f"e{half}", tuple(results), notes=(half,), facts={half: [half]})
    return Experiment("odd", tuple(results), prices={"one": Prices(5, 30)})


@pytest.mark.parametrize("name", ["no number", "endless", "halves"])
def test_odd_numbers_and_names_end_in_a_report(name: str, tmp_path: Path) -> None:
    report = make(odd(name), tmp_path, draws=200)
    text = (tmp_path / "report.json").read_text()
    assert msgspec.json.decode(text, type=Report).headline == report.headline
    page = (tmp_path / "index.html").read_text()
    assert "6 in all" in page
    if name == "no number":
        assert "5 scored, 1 without a grade" in page and report.invalid[0].reason == "the reward is nan"
    if name == "endless":
        baseline = report.recipients[0].baseline
        assert baseline is not None and (
            baseline.means["seconds"].value,
            baseline.means["seconds"].known,
            baseline.means["seconds"].of,
        ) == (
            2.0,
            2,
            3,
        )
    if name == "halves":
        assert report.tasks[0] == "t0⟨U+D800⟩" and report.recipients[0].recipient == "r⟨U+D800⟩"
        assert "m⟨U+D800⟩" in (tmp_path / "tables" / "pass.csv").read_text()


def test_a_task_with_half_a_character_can_be_excluded() -> None:
    found = build(odd("halves"), draws=200, exclude=["t0\ud800"], prices={"r\ud800": Prices(1, 1)})
    assert found.excluded == ("t0⟨U+D800⟩",) and found.recipients[0].prices == Prices(1, 1)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DenseError, match="cannot write the report"):
        make(small(), tmp_path / "file" / "report", draws=200)
