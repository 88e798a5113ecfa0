"""Methods that go wrong in every way: one line for people, and the other trajectories go on."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import Any, cast
from zlib import crc32

import pytest
from aiohttp import web
from loopback import Loopback, said
from made_feedback import made_feedback
from msgspec import Struct

from dense.errors import DenseError, UnknownMethod, describe_exception
from dense.methods import AnyMethod, FeedbackDraft, Item, MethodContext, ReportPage, list_report, method, text_items
from dense.model import ChatRequest, GivenPrices, Message
from dense.options import FeedbackOptions
from dense.service.analysts import SMALL_CONTEXT_TOKENS, model_settings
from dense.service.estimate import estimate
from dense.service.feedback import FeedbackRun
from dense.service.files import write_run
from dense.trajectory import Trajectory

ROOT = Path(__file__).parents[2]
TASKLESS = ROOT / "tests" / "fixtures" / "claude-code" / "stream-json" / "looks.jsonl"

OWN = """
from dense.errors import CallFailed
from dense.methods import FeedbackDraft, Item, ReportPage, list_report, text_items


class Raises:
    name, sees, calls = "raises", "trajectory", "0"

    async def feedback(self, trajectory, context):
        if len(trajectory.steps) == 14:
            return {}["missing\\x1b[31m"]
        return FeedbackDraft(list_report(text_items("summary", ["fine"])))


class Dead(Raises):
    async def feedback(self, trajectory, context):
        if len(trajectory.steps) == 14:
            raise CallFailed("no answer")
        return await super().feedback(trajectory, context)


class Text(Raises):
    async def feedback(self, trajectory, context):
        return "do better"


class Long(Raises):
    async def feedback(self, trajectory, context):
        return FeedbackDraft(lambda room: ReportPage((Item("x", 1, "", "y" * room),)))


class Parses(Raises):
    async def feedback(self, trajectory, context):
        import json
        from dense.model import ChatRequest, Message

        json.loads((await context.model.complete(ChatRequest("", (Message("user", "JSON, please"),)))).text)
        return FeedbackDraft(list_report([]))
"""


def distill(folder: Path, *arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    """The command, run in a folder where `own.py` is."""
    (folder / "own.py").write_text(OWN)
    return subprocess.run(
        [sys.executable, "-P", "-m", "dense", "distill", *map(str, arguments), "--out", "out"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "TERM": "dumb", **env},
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "line", "left"),
    [
        ("Raises", r"csv-report\S*: raises: KeyError: 'missing\\x1b\[31m' \(own\.py:11, in feedback\)", 2),
        ("Dead", r"csv-report\S*: raises: no answer", 2),
        ("Text", r"csv-report\S*: raises must return a `FeedbackDraft` or None, not str", 0),
        ("Long", r"csv-report\S*: raises made a report of [\d,]+ bytes, and there is room for [\d,]+", 0),
    ],
)
def test_a_method_that_fails_has_a_line_and_the_others_go_on(tmp_path: Path, name: str, line: str, left: int) -> None:
    done = distill(tmp_path, ROOT / "examples", "--method", f"own:{name}")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert re.search(f"^error: .*{line}", done.stderr, re.MULTILINE), done.stderr
    assert len(done.stderr.splitlines()) == 4 - left
    lines = done.stdout.splitlines()
    assert len(lines) == left + 5, "a line each, and the table of all four"


def test_a_budget_that_cannot_be_kept_is_refused_first(tmp_path: Path) -> None:
    done = distill(tmp_path, ROOT / "examples", "--budget", 511)
    assert done.stderr == "error: --budget: a budget of 511 bytes is too small: at least 512 are needed\n"
    assert not (tmp_path / "out").exists()
    assert distill(tmp_path, ROOT / "examples", "--budget", 512).returncode == 0
    assert distill(tmp_path, ROOT / "examples", "--budget", "paper").returncode == 0


def test_a_window_that_is_none_is_reported_first(tmp_path: Path) -> None:
    done = distill(tmp_path, ROOT / "examples", "--context", 10)
    assert done.stderr == "error: --context: '10' is no whole number of at least 2,000\n"


def test_a_trace_without_a_task_does_not_break_an_estimate(tmp_path: Path) -> None:
    options = ("--model", "gemini/gemini-3-flash-preview", "--estimate", "--method", "advisor")
    done = distill(tmp_path, TASKLESS, ROOT / "examples", *options)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("estimate for 4 trajectories: 4 calls")
    assert re.fullmatch(r"error: \S*looks\.jsonl\S*: advisor works on the task.*\n", done.stderr)


@pytest.mark.parametrize(("inside", "trace"), [(".", "agent/trajectory.json"), ("agent", "trajectory.json")])
def test_an_outcome_is_found_from_within_its_trial(tmp_path: Path, inside: str, trace: str) -> None:
    trial = tmp_path / "trial"
    copytree(ROOT / "examples" / "csv-report" / "trial", trial)
    (trial / "verifier").mkdir(exist_ok=True)
    (trial / "verifier" / "test-stdout.txt").write_text("1 failed: the total is wrong\n")
    done = distill(trial / inside, trace, "--method", "verifier-feedback")
    assert done.returncode == 0, done.stderr
    (report,) = (trial / inside / "out").glob("*/feedback.txt")
    assert "1 failed: the total is wrong" in report.read_text()


def test_what_cannot_be_estimated_is_not_paid_for_unasked(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response(said("{}"))

    with Loopback(default=answer) as server:
        options = (ROOT / "examples" / "clean-success", "--method", "own:Parses", "--model", f"{server.url}#m")
        refused = distill(tmp_path, *options)
        done = distill(tmp_path, *options, "--yes")
    assert refused.returncode == 1
    assert "error: the cost is unknown" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert done.returncode == 0, done.stderr


def test_calls_of_a_methods_own_are_in_its_estimate(trajectory: Trajectory) -> None:
    class Own:
        name, sees, calls = "own", "trajectory", "2"

        async def feedback(self, trajectory: Trajectory, context: MethodContext) -> FeedbackDraft:
            assert context.model is not None
            schema = {"type": "object", "properties": {"good": {"type": "boolean"}, "why": {"type": "string"}}}
            for request in (
                ChatRequest("", (Message("user", "x" * 4_000),), max_output_tokens=100),
                ChatRequest("", (Message("user", "x"),), schema, max_output_tokens=50),
            ):
                reply = await context.model.complete(request)
            assert reply.text.startswith('{"good": false, "why": "')
            return FeedbackDraft(list_report([]))

    work = estimate(cast("AnyMethod", Own()), trajectory, FeedbackOptions(), GivenPrices(1.0, 1.0, source=""), "")
    found = asyncio.run(work)
    assert (found.calls, found.usage.output) == (2, 150)
    assert 1_000 < (found.usage.input or 0) < 1_100
    assert found.usd == pytest.approx(((found.usage.input or 0) + 150) / 1e6)


SOUND = 'name, sees, calls = "bad", "trajectory", "0"\n'
PROPERTY = "async def feedback(self, trajectory, context): ...\n @property\n def name(self): return 1 / 0\n"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "class Bad:\n " + SOUND + " def feedback(self, trajectory, context): ...",
            "must have an `async def feedback`",
        ),
        ("class Bad:\n " + SOUND + " async def feedback(self, context): ...", "is given (trajectory, context)"),
        ("class Bad:\n def __init__(self): {}[1]", "cannot be loaded: KeyError: 1 (NAME.py:2, in __init__)"),
        ("class Bad:\n def __init__(self, key): ...", "cannot be loaded: TypeError: "),
        ("class Bad:\n " + PROPERTY, "cannot be loaded: ZeroDivisionError: division by zero"),
        ("1 / 0", "cannot be loaded: ZeroDivisionError: division by zero (NAME.py:1, in <module>)"),
        ("def", "cannot be loaded: invalid syntax (NAME.py, line 1)"),
        ("import sys; sys.exit(3)", "cannot be loaded: SystemExit: 3"),
    ],
)
def test_what_cannot_be_loaded_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, words: str
) -> None:
    name = f"bad_{crc32(source.encode())}"
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnknownMethod) as caught:
        method(f"{name}:Bad")
    assert words.replace("NAME", name) in str(caught.value)


def test_a_broken_entry_point_is_a_row_among_the_others(tmp_path: Path) -> None:
    info = tmp_path / "own-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[dense.methods]\nabsent = no_such:Class\nbare = own\nraw = types:SimpleNamespace\n"
    )
    listed = subprocess.run(
        [sys.executable, "-P", "-m", "dense", "methods"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(tmp_path)])},
        check=False,
    )
    assert listed.returncode == 0, listed.stderr
    assert re.search(r"^dense  +task, trajectory", listed.stdout, re.MULTILINE)
    assert re.search(r"^absent +cannot be loaded: No module named 'no_such'$", listed.stdout, re.MULTILINE)
    assert re.search(r"^bare +cannot be loaded: its entry point 'own' is no `module:Class`$", listed.stdout, re.M)
    assert re.search(r"^raw +cannot be loaded: it lacks the text `name`", listed.stdout, re.MULTILINE)


class Giving:
    """Gives whatever it was made with."""

    name, sees, calls = "giving", "trajectory", "0"

    def __init__(self, draft: Any) -> None:
        self.draft = draft

    async def feedback(self, trajectory: Trajectory, context: MethodContext) -> Any:
        return self.draft


def given(draft: Any, trajectory: Trajectory) -> FeedbackRun:
    return made_feedback(cast("AnyMethod", Giving(draft)), trajectory)


FIT = list_report(text_items("summary", ["fine"]))


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        ("words", "not str"),
        (FeedbackDraft(cast("Any", None)), "the wrong type in fit"),
        (
            FeedbackDraft(FIT, cast("Any", "frame"), cast("Any", 3), cast("Any", [])),
            "the wrong type in frame, state, files",
        ),
        (FeedbackDraft(cast("Any", lambda _: "report")), "`fit` of giving must return a `ReportPage`"),
        (FeedbackDraft(cast("Any", lambda room: FIT(room).items)), "`fit` of giving must return a `ReportPage`"),
        (
            FeedbackDraft(cast("Any", lambda room: ReportPage(cast("Any", ("x",))))),
            "`fit` of giving must return a `ReportPage`",
        ),
        (FeedbackDraft(lambda room: ReportPage((Item("x", 1, "", "x" * room),))), "and there is room for"),
    ],
)
def test_what_is_no_draft_is_reported(trajectory: Trajectory, draft: Any, words: str) -> None:
    with pytest.raises(DenseError, match=re.escape(words)):
        given(draft, trajectory)


class Note(Struct):
    text: str = "kept"
    more: Any = None


def written(folder: Path, trajectory: Trajectory, files: Any) -> None:
    write_run(folder, given(FeedbackDraft(FIT, files=files), trajectory))


@pytest.mark.parametrize("name", ["note.json", "a-b_c.1.json", "0"])
def test_a_plain_file_is_kept(tmp_path: Path, trajectory: Trajectory, name: str) -> None:
    written(tmp_path, trajectory, {name: Note()})
    assert '"kept"' in (tmp_path / name).read_text()
    written(tmp_path, trajectory, {name: Note("again")})
    assert '"again"' in (tmp_path / name).read_text()


@pytest.mark.parametrize(
    "name",
    [
        "../up.json",
        "a/b.json",
        "/abs.json",
        "..",
        ".",
        "",
        ".hidden",
        "a\\b",
        "a\0b",
        "a\nb",
        "end.",
        "ü.json",
        "x" * 99,
        "run.json",
        "RUN.json",
        "feedback.txt",
        "message.txt",
        "answers.jsonl",
        "tree.json",
        "Reconciled.json",
    ],
)
def test_no_other_file_is(tmp_path: Path, trajectory: Trajectory, name: str) -> None:
    with pytest.raises(DenseError, match="giving returns a file"):
        written(tmp_path / "out", trajectory, {name: Note()})
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_json_is_reported(tmp_path: Path, trajectory: Trajectory) -> None:
    with pytest.raises(DenseError, match="cannot be JSON"):
        written(tmp_path, trajectory, {"note.json": Note(more=object())})


@pytest.mark.parametrize(
    ("model", "small", "context", "window"),
    [
        ("gemini/any", False, None, 1_000_000),
        ("google/any", False, None, 1_000_000),
        ("openai/any", False, None, 128_000),
        ("anthropic/claude-opus-4-1", False, None, 200_000),
        (None, False, None, 128_000),
        ("gemini/any", True, None, SMALL_CONTEXT_TOKENS),
        ("gemini/any", False, 50_000, 50_000),
        ("vllm/any", True, 4_000, 4_000),
    ],
)
def test_the_window_of_a_run(model: str | None, small: bool, context: int | None, window: int) -> None:
    settings = model_settings(FeedbackOptions(model=model, context=context, small=small))
    assert settings.context_tokens == window


def test_an_exception_that_cannot_speak_is_reported() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert describe_exception(Mute(), "any") == "Mute"
    assert len(describe_exception(ValueError("x\n" * 10_000), "any")) < 400
