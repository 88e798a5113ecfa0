"""Grades reach nobody who is not privileged: a Harbor trial with marked grades, the real command, a real server that
keeps all it is asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from loopback import Loopback, said
from made_feedback import made_feedback

import dense
from dense.analysis.asking.scripted import ScriptedAnswerer
from dense.errors import MissingInput
from dense.methods import FeedbackDraft, MethodContext, list_report, method_names, text_items
from dense.outcome import Outcome
from dense.trajectory import Trajectory

ROOT = Path(__file__).parents[2]
REWARD = "0.8251739"
OUTPUT = "CANARY-OUTPUT-5be2"
TESTS = "CANARY-TESTS-91c4"
SOLUTION = "CANARY-SOLUTION-3d70"


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """A trial with a mark in everything that grades it."""
    folder = tmp_path / "jobs" / "csv-report__x1"
    shutil.copytree(ROOT / "examples" / "csv-report" / "trial", folder)
    result = json.loads((folder / "result.json").read_text())
    result["verifier_result"] = {"rewards": {"reward": float(REWARD), OUTPUT: float(REWARD)}}
    (folder / "result.json").write_text(json.dumps(result))
    (folder / "verifier" / "reward.txt").write_text(REWARD)
    (folder / "verifier" / "test-stdout.txt").write_text(f"1 failed: {OUTPUT}\n")
    for base in (folder, folder / "task", folder / "agent"):
        for name, mark in (("tests", TESTS), ("solution", SOLUTION)):
            (base / name).mkdir(parents=True)
            (base / name / "file.sh").write_text(f"echo {mark}\n")
    (folder / "task" / "instruction.md").write_text("Make /app/summary.json and /app/chart.png.\n")
    return folder


def filled(schema: dict[str, Any], place: int = 0) -> Any:
    if "enum" in schema:
        return schema["enum"][place % len(schema["enum"])]
    kind = schema.get("type")
    if kind == "object":
        return {key: filled(value, place) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema["items"], entry) for entry in range(schema.get("minItems", 0))]
    return {"integer": schema.get("minimum", 0), "boolean": False}.get(str(kind), "words")


async def answer(request: web.Request) -> web.StreamResponse:
    body = await request.json()
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema") or {}
    return web.json_response(said(json.dumps(filled(schema))))


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dense", "distill", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "TERM": "dumb"},
        check=False,
    )


@pytest.mark.parametrize("name", sorted(method_names()))
def test_the_marks_appear_only_for_who_may_see_them(name: str, trial: Path, tmp_path: Path) -> None:
    out, lessons = tmp_path / "out", tmp_path / "lessons.jsonl"
    lessons.touch()
    extra = ("--lessons", lessons) if name == "dense+lessons" else ()
    with Loopback(default=answer) as server:
        done = command(trial, "--method", name, "--model", f"{server.url}#m", "--record", "--yes", "--out", out, *extra)
    assert done.returncode == 0, done.stderr
    calls = len(server.received)
    assert calls == {"advisor": 1, "all-at-once": 1, "step-by-step": 14, "dense-no-hierarchy": 1}.get(name, calls)
    assert (calls == 0) == (name in {"none", "self-reflection", "verifier-feedback"})
    written = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert {"feedback.txt", "message.txt", "run.json"} <= {path.name for path in written}
    asked = json.dumps([[received.headers, received.body] for received in server.received])
    everything = b"".join(written.values()) + (asked + done.stdout + done.stderr).encode()
    assert TESTS.encode() not in everything
    assert SOLUTION.encode() not in everything
    for mark in (REWARD, OUTPUT):
        assert (mark.encode() in everything) == (name == "verifier-feedback"), mark


def test_what_the_privileged_one_says(trial: Path, tmp_path: Path) -> None:
    done = command(trial, "--method", "verifier-feedback", "--out", tmp_path / "out")
    (folder,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert done.stdout == f"{folder}: not passed\n"
    report = (folder / "feedback.txt").read_text()
    assert f"grade: reward {REWARD}" in report
    assert f"1 failed: {OUTPUT}" in report
    assert sorted(path.name for path in folder.iterdir()) == ["feedback.txt", "message.txt", "run.json"]


def test_no_outcome_is_reported(tmp_path: Path) -> None:
    done = command(ROOT / "examples" / "clean-success", "--method", "verifier-feedback", "--out", tmp_path)
    assert done.returncode == 1
    assert "no outcome: only the traces of Harbor trials have one beside them" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_trial_that_was_not_graded_is_reported(trial: Path, tmp_path: Path) -> None:
    shutil.rmtree(trial / "verifier")
    (trial / "result.json").unlink()
    done = command(trial, "--method", "verifier-feedback", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "did not run" in done.stderr


class Curious:
    """A method that takes whatever it is given."""

    name, calls, sees = "curious", "0", "trajectory"

    def __init__(self) -> None:
        self.given: list[object] = []

    async def feedback(self, *given: object) -> FeedbackDraft:
        self.given += given
        return FeedbackDraft(list_report(text_items("summary", ["done"])))


def test_the_runner_hands_no_outcome_to_an_ordinary_method(trajectory: Trajectory) -> None:
    """Also not by mistake: whoever runs it has an outcome at hand and gives it."""
    for sees, kinds in (("trajectory", [Trajectory, MethodContext]), ("outcome", [Trajectory, Outcome, MethodContext])):
        curious = Curious()
        curious.sees = sees
        chosen: Any = curious
        made_feedback(chosen, trajectory, ScriptedAnswerer({}), outcome=Outcome("x", 1.0))
        assert [type(one) for one in curious.given] == kinds


def test_a_privileged_method_without_an_outcome_is_not_run(trajectory: Trajectory) -> None:
    with pytest.raises(MissingInput, match="needs the outcome"):
        made_feedback("verifier-feedback", trajectory, ScriptedAnswerer({}))


def test_no_type_leads_from_a_trajectory_to_an_outcome() -> None:
    """The fields of everything that a method gets, as far as they go."""
    seen: set[type] = set()
    waiting: list[Any] = [dense.Trajectory]
    while waiting:
        kind = waiting.pop()
        if kind in seen or not hasattr(kind, "__struct_fields__"):
            continue
        seen.add(kind)
        from typing import get_args, get_type_hints

        for hint in get_type_hints(kind).values():
            inner = [hint, *get_args(hint)]
            waiting += [deep for one in inner for deep in (one, *get_args(one))]
    assert {kind.__name__ for kind in seen} >= {"Trajectory", "Step", "Observation", "Task"}
    assert Outcome not in seen
