"""The measurement itself: rows, reasons, numbers by hand, and that no outcome reaches the analyst."""

from __future__ import annotations

import importlib
import inspect
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outline_answerer import OutlineAnswerer

from dense.analysis.asking.questions import Correction, Question
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

BENCH = Path(__file__).parents[2] / "bench"
FIXTURES = Path(__file__).parents[1] / "fixtures"
EXAMPLES = Path(__file__).parents[2] / "examples"

VERDICTS: dict[str, dict[str, Any]] = {
    "complete": {"coherence": "coherent", "completion": "complete"},
    "incomplete": {"coherence": "coherent", "completion": "incomplete"},
    "broken": {"coherence": "coherent", "completion": "failed"},
    "unknown": {"coherence": "coherent", "completion": "unknown"},
}


class Says(OutlineAnswerer):
    """Says of a run what its task tells it to say."""

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        answer = json.loads(await super().ask(question, correction))
        word = question.task.instruction if question.task else "complete"
        if word == "raise":
            raise RuntimeError("no word\x1b[2J on this")
        answer["root"].update(VERDICTS[word])
        answer["issues"] = answer["issues"] if word == "incomplete" else []
        return json.dumps(answer)


@pytest.fixture
def agreement(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module("agreement")
    sys.modules.pop("agreement", None)


type Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a manifest of these rows; a row's `say` becomes a trace whose analyst says so."""

    def manifest(*rows: dict[str, Any]) -> Path:
        lines: list[str] = []
        for number, row in enumerate(rows):
            if say := row.pop("say", None):
                row["path"] = f"runs/{number}.json"
                run(tmp_path / row["path"], say, row.pop("exit", 0))
            lines.append(json.dumps(row))
        path = tmp_path / "MANIFEST.jsonl"
        path.write_text("\n".join(lines) + "\n")
        return path

    return manifest


def run(path: Path, say: str, exit_code: int) -> None:
    here = Source(path.name)
    steps = (
        Step(here, calls=(ToolCall("bash", {"command": "true"}, "c1"),), observations=(Observation("ok", "c1"),)),
        Step(
            here,
            calls=(ToolCall("bash", {"command": "make"}, "c2"),),
            observations=(
                Observation("make: *** [all] Error 1" if exit_code else "made", "c2", exit_code=exit_code),
                Observation("Go on.", origin="user"),
            ),
        ),
    )
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.encode(Trajectory("made", "made", here, task=Task(say), steps=steps)))


def printed(agreement: Any, capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    agreement.main([str(argument) for argument in arguments], Says)
    return capsys.readouterr().out


PASSED = [("complete", 0), ("unknown", 1), ("incomplete", 0), ("complete", 0)]
FAILED = [("broken", 1), ("incomplete", 1), ("incomplete", 0), ("unknown", 0), ("complete", 0)]


def nine(write: Write) -> Path:
    return write(
        *({"say": say, "exit": code, "outcome": 1, "format": "one"} for say, code in PASSED),
        *({"say": say, "exit": code, "outcome": 0, "format": "two"} for say, code in FAILED),
    )


def test_figures_by_hand(agreement: Any, write: Write, capsys: pytest.CaptureFixture[str]):
    found = json.loads(printed(agreement, capsys, nine(write), "--json"))

    def figure(value: float, low: float, high: float, n: int) -> dict[str, Any]:
        limits = {"low": pytest.approx(low, abs=6e-5), "high": pytest.approx(high, abs=6e-5)}
        return {"value": pytest.approx(value), **limits, "n": n}

    assert found["false_alarm_rate"] == figure(1 / 4, 0.0456, 0.6994, 4)
    assert found["recall"] == figure(3 / 5, 0.2307, 0.8824, 5)
    assert found["precision"] == figure(3 / 4, 0.3006, 0.9544, 4)
    assert found["complete_precision"] == figure(2 / 3, 0.2077, 0.9385, 3)
    assert found["balanced_accuracy"] == figure(0.675, 0.3842, 0.8493, 9)
    assert found["confusion"] == {
        "complete": {"passed": 2, "failed": 1},
        "incomplete": {"passed": 1, "failed": 2},
        "broken": {"passed": 0, "failed": 1},
        "unknown": {"passed": 1, "failed": 1},
    }
    last, never = found["baselines"]["last_error"], found["baselines"]["always_complete"]
    assert [last[name]["value"] for name in ("false_alarm_rate", "recall", "precision")] == [1 / 4, 2 / 5, 2 / 3]
    assert last["balanced_accuracy"]["value"] == pytest.approx(0.575)
    assert never["precision"] == {"value": None, "low": None, "high": None, "n": 0}
    assert (never["recall"]["value"], never["balanced_accuracy"]["value"]) == (0, 0.5)
    assert found["rows"] == {"manifest": 9, "read": 9, "analyst_failed": 0, "left_out": {}}


def test_text_says_the_same_and_which_intervals(agreement: Any, write: Write, capsys: pytest.CaptureFixture[str]):
    text = printed(agreement, capsys, nine(write))
    assert "false alarm rate    0.250  [0.046, 0.699]  n=4" in text
    assert "incomplete                 1       2" in text
    assert "Wilson" in text and "square-and-add" in text


def test_by_a_field_without_passed_or_failed_runs(agreement: Any, write: Write, capsys: pytest.CaptureFixture[str]):
    found = json.loads(printed(agreement, capsys, nine(write), "--json", "--by", "format"))["by"]
    assert found["one"]["false_alarm_rate"]["value"] == 1 / 4
    assert found["one"]["recall"] == {"value": None, "low": None, "high": None, "n": 0}
    assert found["two"]["recall"]["value"] == 3 / 5
    assert found["two"]["balanced_accuracy"] == {"value": None, "low": None, "high": None, "n": 0}


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [(0, False), (1, True), (1.0, True), (True, True), (False, False)]
    + [(other, None) for other in (None, 0.5, 2, -1, "1", "84/200 pass", [1], {"reward": 1}, float("nan"))],
)
def test_outcomes_that_count(agreement: Any, write: Write, outcome: Any, expected: bool | None):
    assert agreement.manifest(write({"path": "x", "outcome": outcome}))[0].has_passed is expected


def test_every_reason_for_leaving_out(agreement: Any, write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "foreign.json").write_text('{"temperature": 20}')
    (tmp_path / "cut.json").write_text('{"steps": [{"mess')
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "folder").mkdir()
    shutil.copy(FIXTURES / "messages" / "openai-many.jsonl", tmp_path / "many.jsonl")
    path = write(
        {"say": "complete", "outcome": 1, "surplus": {"deep": []}},
        {"path": "foreign.json"},
        {"path": "foreign.json", "outcome": "84/200 pass"},
        {"outcome": 0},
        {"path": None, "outcome": 0},
        {"path": ["foreign.json"], "outcome": 0},
        {"path": "", "outcome": 0},
        {"path": "nowhere.json", "outcome": 0},
        {"path": "nul\0.json", "outcome": 0},
        {"path": "foreign.json", "outcome": 0},
        {"path": "folder", "outcome": 0},
        {"path": "cut.json", "outcome": 0},
        {"path": "empty.jsonl", "outcome": 0},
        {"path": "many.jsonl", "outcome": 0},
    )
    path.write_text(f"\n  \n{path.read_text()}\n\n")
    rows = json.loads(printed(agreement, capsys, path, "--json"))["rows"]
    assert (rows["manifest"], rows["read"]) == (14, 1)
    assert rows["left_out"] == {
        agreement.NO_OUTCOME: 2,
        agreement.NO_PATH: 4,
        agreement.MISSING: 2,
        agreement.UNSUPPORTED: 2,
        agreement.BROKEN: 2,
        agreement.SEVERAL: 1,
    }


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        (EXAMPLES / "csv-report" / "trial", 14),
        (EXAMPLES / "clean-success" / "session.jsonl", 8),
        (FIXTURES / "atif" / "constructed" / "embedded-sub-agents" / "agent" / "trajectory.json", 3),
        (FIXTURES / "atif" / "jobs" / "summarised", 6),
    ],
    ids=["trial", "session", "sub-agents", "job of one trial"],
)
def test_the_main_run_of_a_path(agreement: Any, path: Path, steps: int):
    assert len(agreement.sole_trajectory(path).steps) == steps


def test_a_run_on_which_the_analyst_fails_raises_no_alarm_and_is_reported(
    agreement: Any, write: Write, capsys: pytest.CaptureFixture[str]
):
    path = write({"say": "raise", "outcome": 0}, {"say": "broken", "outcome": 0})
    found = json.loads(printed(agreement, capsys, path, "--json"))
    assert found["recall"]["value"] == 1 / 2
    assert found["rows"]["analyst_failed"] == 1 and found["confusion"]["unknown"]["failed"] == 1
    text = printed(agreement, capsys, path, "--list")
    assert "FAILED on 1" in text and "RuntimeError: no word" in text and "\x1b" not in text


def test_list_has_a_line_for_each_row(agreement: Any, write: Write, capsys: pytest.CaptureFixture[str]):
    path = write({"say": "incomplete", "outcome": 1}, {"path": "no\x1bwhere", "outcome": 0}, {})
    lines = printed(agreement, capsys, path, "--list").split("\n\n")[0].splitlines()
    assert lines[0].startswith("runs/0.json  1  incomplete  What the record shows")
    assert lines[1] == "no\ufffdwhere  0  left out: no such file"
    assert lines[2] == "-  -  left out: no outcome of 0 or 1"
    runs = json.loads(printed(agreement, capsys, path, "--list", "--json"))["runs"]
    assert [entry["state"] for entry in runs] == ["incomplete", None, None]


def test_fatal_issues_are_listed_before_others(agreement: Any):
    from dense.tree import Issue, ReconciledTree, Subtask

    issues = (
        Issue("issue_0", "closed", "n1", severity="fatal", resolved_at="n1"),
        Issue("issue_1", "ordinary", "n1"),
        Issue("issue_2", "fatal", "n1", severity="fatal"),
    )
    tree = ReconciledTree("t", None, Subtask("n1", 0, "", "", ()), issues)
    assert agreement._first_issue(tree) == "fatal"


def test_outcome_and_names_of_files_never_reach_the_analyst(
    agreement: Any, write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    asked: list[str] = []

    class Recording(Says):
        async def ask(self, question: Question, correction: Correction | None = None) -> str:
            asked.append(repr(question))
            return await super().ask(question, correction)

    def questions(outcome: int, folder: str) -> list[str]:
        asked.clear()
        shutil.copytree(EXAMPLES / "csv-report" / "trial", tmp_path / folder)
        shutil.copy(FIXTURES / "mini-swe-agent" / "v2-submitted.traj.json", tmp_path / f"{folder}.traj.json")
        rows = agreement.manifest(write({"path": folder, "outcome": outcome}))
        rows += agreement.manifest(write({"path": f"{folder}.traj.json", "outcome": outcome}))
        words = list(agreement.judged(rows, tmp_path, lambda: _forgiving(Recording)))
        assert all(isinstance(word, agreement.Judged) and not word.failure for word in words)
        return list(asked)

    passed, failed = questions(1, "zebra-pass"), questions(0, "zebra-fail")
    assert passed and passed == failed
    assert not any("zebra" in question for question in passed)
    assert set(inspect.signature(agreement.judge).parameters) == {"path", "analyst"}
    capsys.readouterr()


def _forgiving(kind: type[Says]) -> Says:
    """One that has an answer to any task."""

    class Forgiving(kind):
        async def ask(self, question: Question, correction: Correction | None = None) -> str:
            return await kind.ask(self, msgspec.structs.replace(question, task=None), correction)

    return Forgiving()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"path": "a", "outcome": 1}\n{"path"\n', ":2: not JSON"),
        (b"[1]\n", ":1: not a JSON object"),
        (b"\n\n", "no rows"),
        (b"\xff\xfe\n", "not UTF-8"),
        (b"[" * 100_000, ":1: not JSON"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_manifest_is_reported_without_a_traceback(
    agreement: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, message: str
):
    path = tmp_path / "M.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        agreement.main([str(path)], Says)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_processes_give_the_same_as_one(write: Write, tmp_path: Path):
    """As the command is run, with the analyst that it is for."""
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("seed"))
    path = write(
        {"path": "examples/csv-report/trial", "outcome": 0},
        {"path": "examples/clean-success/session.jsonl", "outcome": 1},
        *({"path": "examples/looks-successful/rollout.jsonl", "outcome": 0} for _ in range(8)),
        {"path": "nowhere", "outcome": 1},
    )

    def output(*arguments: str) -> str:
        command = [sys.executable, str(BENCH / "agreement.py"), str(path), "--list", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout

    one = output("--jobs", "1")
    assert output("--jobs", "3") == one
    assert "11 rows, 10 runs measured" in one


def test_an_end_of_listening_is_no_error(write: Write):
    path = write(*({"path": f"{number}.json", "outcome": 1} for number in range(3000)))
    command = [sys.executable, str(BENCH / "agreement.py"), str(path), "--list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert "0.json" in process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


@given(st.integers(0, 500), st.integers(0, 500))
def test_wilson_holds_its_proportion(count: int, more: int):
    sys.path.insert(0, str(BENCH))
    try:
        agreement: Any = importlib.import_module("agreement")
    finally:
        sys.path.remove(str(BENCH))
    figure = agreement.wilson(count, count + more)
    if count + more == 0:
        assert figure.value is None
        return
    assert 0 <= figure.low <= figure.value <= figure.high <= 1
    mirrored = agreement.wilson(more, count + more)
    assert figure.low == pytest.approx(1 - mirrored.high) and figure.high == pytest.approx(1 - mirrored.low)
    both = agreement.balanced(figure, mirrored)
    assert 0 <= both.low <= both.value <= both.high <= 1
    assert both.value == pytest.approx((mirrored.value + 1 - figure.value) / 2)


# Void verifiers and groups that are held out

LOG = "curl: (7) Failed to connect to example.org\n/tests/test.sh: line 19: uvx: command not found\n"


def trial(folder: Path, log: str, *, with_results: bool = False) -> str:
    run(folder / "trajectory.json", "complete", 0)
    (folder / "verifier").mkdir()
    (folder / "verifier" / "test-stdout.txt").write_text(log)
    if with_results:
        (folder / "verifier" / "ctrf.json").write_text("{}")
    return f"{folder.name}/trajectory.json"


def test_outcomes_of_verifiers_that_never_ran_are_left_out(
    agreement: Any, write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for name in "abc":
        (tmp_path / name).mkdir()
    paths = [
        trial(tmp_path / "a", LOG),
        trial(tmp_path / "b", LOG, with_results=True),
        trial(tmp_path / "c", LOG + "===== 1 failed in 0.1s =====\n"),
    ]
    rows = [{"path": path, "outcome": 0} for path in paths] + [{"path": paths[0], "outcome": None}]
    found = json.loads(printed(agreement, capsys, write(*rows), "--json"))
    assert found["rows"]["left_out"] == {agreement.VOID: 2}
    assert found["rows"]["read"] == 2


def test_each_group_is_compared_with_all_others(agreement: Any, write: Write, capsys: pytest.CaptureFixture[str]):
    found = json.loads(printed(agreement, capsys, nine(write), "--json", "--hold-out", "format"))
    one, two = found["hold_out"]["one"], found["hold_out"]["two"]
    assert one["held_out"]["false_alarm_rate"]["n"] == two["others"]["false_alarm_rate"]["n"] == 4
    assert one["held_out"]["recall"]["n"] == 0 and one["others"] == two["held_out"]
    text = printed(agreement, capsys, nine(write), "--hold-out", "format")
    assert "on all others" in text
