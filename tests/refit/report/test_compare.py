"""Two experiments against each other, and the gate on their difference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dense.cli.app import main
from dense.errors import DenseError
from refit.experiment.experiment import import_table
from refit.experiment.results_table.files import ResultTable
from refit.experiment.store.events import EventStore
from refit.report.compare import Side, compare
from refit.results import RUN0, AttemptResult, Cell, Experiment, Result


def results(passes: dict[str, str], method: str = "dense", recipient: str = "r") -> tuple[Result, ...]:
    """Results by task: a digit for each repetition; a dot is not scored."""
    found: list[Result] = []
    for task, marks in passes.items():
        for repetition, mark in enumerate(marks):
            found.append(Result(Cell(recipient, task, repetition, 0, RUN0), AttemptResult(reward=0.0)))
            reward = None if mark == "." else float(mark)
            found.append(Result(Cell(recipient, task, repetition, 1, method), AttemptResult(reward=reward)))
    return tuple(found)


BEFORE = {f"t{number}": "00" for number in range(12)}
AFTER = {f"t{number}": "11" if number < 6 else "00" for number in range(12)}


def test_the_second_less_the_first_by_hand() -> None:
    (found,) = compare(Side(Experiment("a", results(BEFORE))), Side(Experiment("b", results(AFTER))))
    assert (found.first.value, found.second.value, found.difference.points.value) == (0.0, 50.0, 50.0)
    assert (found.difference.both, found.difference.method_only, found.difference.neither) == (0, 12, 12)
    assert found.difference.p == 2 / 2**6
    interval = found.difference.points.interval
    assert interval is not None and 15 < interval.low < 30 and 70 < interval.high < 85
    (other,) = compare(Side(Experiment("b", results(AFTER))), Side(Experiment("a", results(BEFORE))))
    assert other.difference.points.value == -50.0


def test_only_pairs_that_both_scored_count() -> None:
    first = Experiment("a", results({"t1": "10", "t2": "1", "gone": "1"}))
    second = Experiment("b", results({"t1": "1.", "t2": "0", "new": "1"}))
    (found,) = compare(Side(first), Side(second))
    assert (found.difference.points.known, found.unpaired) == (2, 3)
    assert found.difference.points.value == -50.0


def test_methods_of_one_experiment(tmp_path: Path) -> None:
    both = Experiment("a", (*results(BEFORE, "none"), *(one for one in results(AFTER) if one.cell.round)))
    (found,) = compare(Side(both, "none"), Side(both))
    assert found.difference.points.value == 50.0
    (found,) = compare(Side(both, RUN0), Side(both, "dense"))
    assert found.difference.points.value == 50.0
    with pytest.raises(DenseError, match=r"has no method 'nope'.*there are run0, none, dense"):
        compare(Side(both, "nope"), Side(both))


def test_nothing_in_common_is_an_error() -> None:
    first, second = Experiment("a", results(BEFORE)), Experiment("b", results(AFTER, recipient="other"))
    with pytest.raises(DenseError, match="no recipient is in both"):
        compare(Side(first), Side(second))
    with pytest.raises(DenseError, match="recipient 'x' is not in both experiments; in both are r"):
        compare(Side(first), Side(first), recipients=["x"])
    with pytest.raises(DenseError, match="no pair is scored on both sides"):
        compare(Side(first), Side(Experiment("c", results({"elsewhere": "1"}))))


def stored(folder: Path, found: tuple[Result, ...]) -> str:
    with EventStore(folder) as store:
        import_table(store, folder.name, ResultTable(found), "made")
    return str(folder)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ([], 0),
        (["--fail-under", "50"], 0),
        (["--fail-under", "50.1"], 3),
        (["--fail-under", "10", "--by", "low"], 0),
        (["--fail-under", "40", "--by", "low"], 3),
        (["--fail-under", "70", "--by", "high"], 0),
        (["--recipient", "nobody"], 1),
    ],
)
def test_the_gate(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    code: int,
) -> None:
    first, second = stored(tmp_path / "a", results(BEFORE)), stored(tmp_path / "b", results(AFTER))
    monkeypatch.setattr("sys.argv", ["dense", "refit", "compare", first, f"{second}#dense", *more])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    out, err = capsys.readouterr()
    assert ("50.00 % − 0.00 % = +50.00 points, 95 % [" in out) == (code != 1)
    assert ("failed: r: " in err) == (code == 3)


def test_the_comparison_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = stored(tmp_path / "a", results(BEFORE)), stored(tmp_path / "b", results(AFTER))
    monkeypatch.setattr("sys.argv", ["dense", "refit", "compare", first, second, "--json"])
    with pytest.raises(SystemExit):
        main()
    (found,) = json.loads(capsys.readouterr().out)
    assert found["difference"]["points"]["value"] == 50.0
