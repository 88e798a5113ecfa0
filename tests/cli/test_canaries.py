"""A trace with a credential, a terminal's sequences and a forged line in every field, and everything that leaves.

Each output is walked: messages, reports, trees, records, pages, tables, hooks, the state folder, MCP, errors, logs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from hostile import ACTING, FORGED, UNSAFE, hostile_trajectory, write_claude_session
from msgspec import Struct, structs

from dense import distill_sync
from dense.batch.libraries import parquet
from dense.integrations.harbor_plugin import DensePlugin
from dense.methods import METHODS, method
from dense.outcome import Outcome
from dense.redact import MAX_LINE_CHARS, clean_line, redact_text
from dense.service import AnalystChoice, FeedbackOptions, make_feedback, write_failure, write_run
from dense.trajectory import Notice, Observation, Source, Step, Task, ToolCall, Trajectory

TOKEN = re.compile(r"ghp_[0-9A-Za-z]{20,}")
LONG = "i" * 20_000
FORMS = {".json": "object", ".jsonl": "lines"}
RECORD_TEXTS = {"message", "reasoning", "text", "arguments", "instruction", "quote", "last_request", "context"}
"""Fields of files that quote a trace's own texts, which may have several lines."""


def token(number: int) -> str:
    """A token of GitHub's classic form, another one for each number."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    body = "".join(digits[(number * 31 + place * 17 + number // 62) % 62] for place in range(30))
    return f"ghp_{body}{checksum(body)}"


def checksum(body: str) -> str:
    """The end of a token of GitHub's: its CRC in base 62."""
    from zlib import crc32

    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    value, end = crc32(body.encode()), ""
    for _ in range(6):
        value, rest = divmod(value, 62)
        end = digits[rest] + end
    return end


def marker() -> Any:
    """Marks a text with the next token and with what acts."""
    numbers = count()
    known: dict[str, str] = {}

    def mark(text: str) -> str:
        if text not in known:
            known[text] = f"{text} {token(next(numbers))} {ACTING}{FORGED} {token(next(numbers))}{ACTING}"
        return known[text]

    return mark


def every_text(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each text of a value, with the names of the fields that lead to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from every_text(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield from every_text(inner, f"{path}.{name}")
            yield f"{path}.keys", name
    elif isinstance(value, list | tuple):
        for inner in cast("list[Any]", value):
            yield from every_text(inner, path)


def assert_clean(text: str, where: object) -> None:
    """No credential, and nothing that acts."""
    assert TOKEN.search(text) is None, (where, TOKEN.search(text))
    found = UNSAFE.search(text.replace("\r\n", "\n"))
    assert found is None, (where, found, text[max(0, found.start() - 80) :][:200])


def assert_lines(text: str, where: object) -> None:
    """Clean, and no line of its own for what a trace forges."""
    assert_clean(text, where)
    assert "\nerror: FORGED" not in without_quotes(text), where


def without_quotes(text: str) -> str:
    """A text without what stands between marker lines: what a trace says there is quoted, line by line."""
    kept: list[str] = []
    is_quoted = False
    for line in text.split("\n"):
        if re.match(r"[0-9a-z]{5}\|", line):
            is_quoted = line[6:].strip() not in ("", "end")
        elif not is_quoted:
            kept.append(line)
    return "\n".join(kept)


def assert_files(folder: Path, *, but: tuple[str, ...] = ()) -> int:
    """All files below a folder, by name and content; gives how many."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in paths:
        assert_lines(path.relative_to(folder).as_posix(), path)
        if path.name in but or path.suffix == ".parquet":
            continue
        text = path.read_bytes().decode()
        if path.suffix not in FORMS:
            assert_clean(without_task(text), path)
            continue
        assert_clean(text, path)
        values = [json.loads(text)] if path.suffix == ".json" else list(map(json.loads, text.splitlines()))
        for name, value in every_text(values):
            if not RECORD_TEXTS.intersection(name.split(".")):
                assert_lines(value, (path, name))
                assert len(value) <= 10 * MAX_LINE_CHARS, (path, name)
    return len(paths)


def without_task(message: str) -> str:
    """A message without the task's own text, which stays as it is but for credentials."""
    assert TOKEN.search(message) is None, message
    key = re.match(r"\[dense-feedback-(\w{5})\] ", message)
    return message.partition(f"{key[1]}| end\n")[0] if key else "" if message.startswith("Make the tests") else message


def test_every_text_of_a_trajectory_is_marked() -> None:
    """What follows says something only if no field of a trajectory is forgotten."""
    mark = marker()
    whole = hostile_trajectory(mark("trace.json"), mark)
    plain = {"format", "origin", "kind"}
    marked = {name for name, text in every_text(whole) if "ghp_" in text}
    for kind in (Trajectory, Task, Step, ToolCall, Observation, Notice, Source):
        for field in structs.fields(kind):
            if field.type in (str, str | None) and field.name not in plain:
                assert any(name.endswith(f".{field.name}") for name in marked), (kind, field.name)
    assert {".steps.calls.arguments.keys", ".steps.subagents.steps.message"} <= marked


@pytest.mark.parametrize("redact", [True, False])
def test_nothing_of_a_label_acts_whether_or_not_credentials_are_replaced(*, redact: bool) -> None:
    mark = marker()
    done = distill_sync(hostile_trajectory(mark("t.json"), mark), options=FeedbackOptions(redact=redact))
    for name, text in every_text(done.record):
        assert UNSAFE.search(text) is None, name
        assert "\n" not in text, name


def test_a_label_of_any_length_is_bounded_and_stays_itself() -> None:
    whole = structs.replace(hostile_trajectory("t.json"), id=f"{LONG}1", agent=LONG, model=LONG)
    one = distill_sync(whole).record
    other = distill_sync(structs.replace(whole, id=f"{LONG}2")).record
    assert len(one.trajectory) < 300
    assert one.trajectory != other.trajectory


@pytest.mark.parametrize("name", sorted(METHODS))
def test_messages_trees_and_records(name: str, tmp_path: Path) -> None:
    chosen = method(name)
    mark = marker()
    graded = Outcome("t", 0.0, verifier_output=mark("E   assert 1 == 2\n1 failed"))
    outcome = graded if chosen.sees == "outcome" else None
    whole, options = hostile_trajectory(mark("t.json"), mark), FeedbackOptions(budget="paper")
    run = asyncio.run(make_feedback(chosen, whole, AnalystChoice(), outcome=outcome, options=options)).require()
    assert_clean(run.feedback.report, name)
    assert_clean(without_task(run.feedback.message), name)
    write_run(tmp_path / name, run)
    assert assert_files(tmp_path / name) >= 3


def test_the_record_of_a_failure(tmp_path: Path) -> None:
    mark = marker()
    empty = structs.replace(hostile_trajectory(mark("t.json"), mark), steps=())
    run = asyncio.run(make_feedback(method("dense"), empty))
    write_failure(tmp_path, run.record)
    assert "nothing to learn" in (tmp_path / "failed.json").read_text()
    assert_files(tmp_path)


class Place:
    """A home, a project and traces, all hostile, and the program's commands in them."""

    def __init__(self, base: Path) -> None:
        self.base, self.home, self.project = base, base / "home", base / "project"
        self.state, self.traces = base / "state", base / "traces"
        (self.project / ".git").mkdir(parents=True)
        self.traces.mkdir()
        self.trace = self.write("trace")
        write_claude_session(self.home, self.project, marker())

    def write(self, name: str, **changes: Any) -> Path:
        path = self.traces / f"{name}.json"
        whole = structs.replace(hostile_trajectory(str(path), marker()), **changes)
        path.write_bytes(msgspec.json.encode(whole))
        return path

    def run(self, *arguments: str, given: str = "", code: int = 0) -> str:
        """What a command prints, both streams."""
        environment = {**os.environ, "HOME": str(self.home), "DENSE_STATE_DIR": str(self.state)}
        for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            environment.pop(name, None)
        done = subprocess.run(
            [sys.executable, "-m", "dense", *arguments], cwd=self.project, env=environment, input=given.encode(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        text = done.stdout.decode()
        assert done.returncode == code, text
        return text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("canaries"))


def test_distill(place: Place) -> None:
    assert_clean(without_task(place.run("distill", str(place.trace)).partition("\n")[2]), "message")
    place.write("second")
    place.write("failing", steps=())
    out = place.base / "out"
    assert_lines(place.run("distill", str(place.traces), "--out", str(out), code=1), "table")
    assert_lines(place.run("distill", str(place.traces), "--out", str(out), "--json", code=1), "json")
    assert assert_files(out) >= 11
    assert len(list(out.glob("*/run.json"))) >= 2
    for folder in out.iterdir():
        if (folder / "run.json").is_file():
            assert_lines(place.run("show", str(folder)), "show")


def test_errors_name_no_credential(place: Place) -> None:
    """Of a damaged file, of a missing one, of a wrong option."""
    folder = place.base / "errors"
    folder.mkdir()
    damaged = folder / f"{token(900)} {FORGED.strip()}.jsonl"
    damaged.write_text(f'{{"{token(901)}": 1}}\n{{"{token(902)}"\n{token(903)}\n')
    for command in ("distill", "show", "view"):
        assert_lines(place.run(command, str(damaged), code=1), command)
    assert_lines(place.run("distill", str(folder / token(904)), code=1), "missing")
    assert_lines(place.run("distill", str(place.trace), "--turn", token(905), code=2), "turn")
    assert_lines(place.run("last", "--agent", token(906), code=1), "agent")
    schema = folder / "schema.json"
    schema.write_text(json.dumps({"schema": f"dense.trajectory/{token(907)}{ACTING}{FORGED}"}))
    assert_lines(place.run("distill", str(schema), code=1), "schema")


def test_sessions_and_pages(place: Place) -> None:
    text = place.run("last")
    assert_clean(without_task(text[: text.rindex("claude-code")]), "last")
    assert_lines(text[text.rindex("claude-code") :], "note")
    assert_lines(place.run("last", "--report"), "report")
    assert_lines(place.run("sessions"), "sessions")
    assert_lines(place.run("sessions", "--json"), "sessions")
    assert_lines(place.run("show", "--last"), "show")
    assert_lines(place.run("view", "--last", "--out", str(place.base / "view.html")), "view")
    assert_lines(place.run("view", str(place.trace), "--out", str(place.base / "trace.html")), "view")
    for name in ("view.html", "trace.html"):
        assert_clean((place.base / name).read_text(), name)
    assert assert_files(place.state) >= 1


def settle(place: Place) -> None:
    """Wait until no session waits: the worker that a hook started may be at work."""
    end = time.monotonic() + 60
    while list((place.state / "queue").glob("*.json")):
        assert time.monotonic() < end
        place.run("hook", "work")
        time.sleep(0.05)


def test_hooks(place: Place) -> None:
    mark = marker()
    path = place.write("session", id=f"{mark('session')} {LONG}", agent=f"{mark('agent')} {LONG}")
    folder = place.base / f"{token(940)} {ACTING[:4]}"
    (folder / ".git").mkdir(parents=True)
    for name in (f"{mark('session')} {LONG}", f"{token(950)}"):
        event = {"session_id": name, "cwd": str(folder), "transcript_path": str(path)}
        assert place.run("hook", "session-end", given=json.dumps(event)) == ""
        settle(place)
        text = place.run("hook", "session-start", given=json.dumps({**event, "session_id": "next"}))
        context = json.loads(text)["hookSpecificOutput"]["additionalContext"]
        assert_lines(context, "context")
        assert "\nnext-step 1: " in context, "the report is not pushed out"
        assert context.count("dense: feedback on") == 1
    broken = {"session_id": token(951), "cwd": str(place.project), "transcript_path": f"/none/{token(952)}"}
    place.run("hook", "session-end", given=json.dumps(broken))
    settle(place)
    assert_lines(place.run("hook", "status"), "status")
    shutil.rmtree(place.state / "running")  # names folders as they are: the next hook looks them up
    assert assert_files(place.state, but=("worker.lock", "injected.lock")) >= 5


def test_mcp(place: Place) -> None:
    pytest.importorskip("mcp")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    calls: list[tuple[str, dict[str, str]]] = [
        ("distill", {"path": str(place.trace)}),
        ("last_feedback", {"folder": str(place.project)}),
        ("open_issues", {"folder": str(place.project)}),
        ("distill", {"path": str(place.base / token(960))}),
        ("last_feedback", {"folder": str(place.base), "agent": token(961)}),
    ]

    async def answers() -> list[str]:
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "dense", "mcp"],
            env={**os.environ, "HOME": str(place.home), "DENSE_STATE_DIR": str(place.state)},
        )  # fmt: skip
        async with stdio_client(parameters) as (reader, writer), ClientSession(reader, writer) as session:
            await session.initialize()
            found = [await session.call_tool(name, arguments) for name, arguments in calls]
            return ["\n".join(str(getattr(part, "text", "")) for part in answer.content) for answer in found]

    for (name, _), answer in zip(calls, asyncio.run(answers()), strict=True):
        assert_clean(without_task(answer), name)


def test_batches_and_lessons(place: Place) -> None:
    folder = place.base / "batch-traces"
    folder.mkdir()
    for number in range(4):
        path = folder / f"{number} {token(970 + number)}.json"
        path.write_bytes(msgspec.json.encode(hostile_trajectory(str(path), marker())))
    (folder / f"broken {token(980)}.jsonl").write_text(f'{{"{token(981)}"')
    out = place.base / "batch"
    assert_lines(place.run("batch", str(folder), "--out", str(out), "--workers", "1", code=1), "batch")
    rows = [row for path in out.rglob("*.parquet") for row in parquet().read_table(path).to_pylist()]
    assert sum(not row["error"] for row in rows) == 4
    for row in rows:
        assert_clean(without_task(row.pop("message")), "message")
        for name, text in every_text(row):
            assert_lines(text, name)
    for command in ("summary", "search", "diff"):
        words = {"search": ["FORGED"], "diff": [str(out)]}.get(command, [])
        assert_lines(place.run("batch", command, str(out), *words), command)
        assert_lines(place.run("batch", command, str(out), *words, "--json"), command)
        page = place.base / f"{command}.html"
        assert_lines(place.run("batch", command, str(out), *words, "--html", str(page)), command)
        assert_clean(page.read_text(), command)
    assert_lines(place.run("lessons", str(out), "--out", str(place.base / "lessons.md")), "lessons")
    for suffix in (".md", ".jsonl"):
        assert_lines((place.base / f"lessons{suffix}").read_text(), suffix)
    assert_files(out)


def test_a_failed_trial_of_harbor(fixtures: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What the plugin notes and logs, and what an import of the trial says of it."""
    job = Path(shutil.copytree(fixtures / "atif" / "jobs" / "basic", tmp_path / "basic"))
    (trial,) = (path.parent for path in job.glob("*/result.json"))
    mark = marker()
    named = trial.rename(trial.with_name(f"{trial.name}-{token(990)}"))
    shutil.rmtree(named / "agent")
    result = json.loads((named / "result.json").read_text())
    result["exception_info"] = {"exception_type": mark("Error"), "exception_message": mark("It failed")}
    result["verifier_result"] = {"rewards": {mark("other"): 1.0}}
    (named / "result.json").write_text(json.dumps(result))

    async def ended() -> None:
        callbacks: list[Any] = []
        plugin = DensePlugin()
        await plugin.on_job_start(SimpleNamespace(on_trial_ended=callbacks.append))
        config = SimpleNamespace(trials_dir=named.parent, trial_name=named.name)
        await callbacks[0](SimpleNamespace(config=config))

    with caplog.at_level(logging.DEBUG):
        asyncio.run(ended())
    assert_lines((named / "dense" / "failed.txt").read_text(), "failed")
    assert caplog.messages
    for message in caplog.messages:
        assert_lines(message, "log")


def test_the_tokens_are_credentials() -> None:
    for number in range(1000):
        assert TOKEN.search(token(number))
        assert "ghp_" not in redact_text(token(number))[0]
        assert "ghp_" not in clean_line(f"/a/{token(number)}/b.json")
