"""Sessions of pi and OpenClaw: the recorded ones under fixtures/pi, and small ones made here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.readers import Stream, read_streams
from dense.readers.formats.pi import OpenClaw, Pi

FIXTURES = Path(__file__).parents[1] / "fixtures" / "pi"
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "T", "cwd": "/app"}
CLAW = HEADER | {"version": 4, "cwd": "/home/agent/.openclaw/workspace"}


def recorded(name: str) -> Path:
    (path,) = (FIXTURES / name).rglob("*.jsonl")
    return path


def entry(key: str, parent: str | None, message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    made = {"type": "message", "id": key, "parentId": parent, "timestamp": "T"} | more
    return made if message is None else made | {"message": message}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}


def agent(text: str, **more: Any) -> dict[str, Any]:
    usage = {"input": 5, "output": 2, "cacheRead": 7, "cacheWrite": 1, "cost": {"total": 0.25}}
    made = {"role": "assistant", "content": [{"type": "text", "text": text}], "model": "m", "usage": usage}
    return made | {"stopReason": "stop", "timestamp": 1} | more


def session(path: Path, *records: Any) -> Path:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return path


def read(tmp_path: Path, *records: Any) -> list[dense.Trajectory]:
    return list(dense.read(session(tmp_path / "session.jsonl", *records)))


def only(tmp_path: Path, *records: Any) -> dense.Trajectory:
    (trajectory,) = read(tmp_path, *records)
    return trajectory


def words(trajectory: dense.Trajectory) -> list[str]:
    return [step.message for step in trajectory.steps]


def test_a_recorded_session() -> None:
    (read,) = dense.read(recorded("fix"))
    assert (read.format, read.agent, read.model, len(read.steps)) == ("pi", "pi", "scripted", 7)
    assert read.task is not None
    assert read.task.instruction.startswith("The test in /app fails.")
    assert read.usage == dense.Usage(5300, 1700, 0, 350, 0.0)
    first = read.steps[0]
    assert (first.source.line, first.timestamp is not None) == (5, True)
    assert first.reasoning.startswith("The test is said to fail.")
    assert [c.id for c in first.calls] == [o.call_id for o in first.observations]
    assert [o.is_error for o in read.steps[1].observations] == [True]
    assert read.steps[3].observations[1].text.endswith("[image: image/png, 100 bytes]")
    assert read.steps[-1].calls == ()
    assert read.notices == ()


def test_only_the_live_branch_counts() -> None:
    (read,) = dense.read(recorded("branched"))
    assert [step.source.line for step in read.steps] == [9, 11]
    assert read.task == dense.Task("How many files are there?")


def test_a_compaction_takes_nothing_away() -> None:
    (read,) = dense.read(recorded("compacted"))
    assert len(read.steps) == 4
    origins = [o.origin for o in read.steps[1].observations]
    assert origins == ["system", "user"]


def test_a_line_of_entries_without_ids_is_read_lazily(tmp_path: Path) -> None:
    entries = [{"type": "message", "timestamp": "T", "message": m} for m in (user("Count."), agent("One."))]
    path = session(tmp_path / "session.jsonl", HEADER | {"version": 1}, *entries, *[entries[1]] * 500, '{"cut')
    (stream,) = read_streams(path)
    assert isinstance(stream, Stream)
    assert (stream.task, stream.model) == (dense.Task("Count."), "m")
    steps: Iterator[dense.Step] = stream.counted()
    assert [next(steps).source.line, next(steps).source.line] == [3, 4]
    assert stream.notices.items == []  # the damage at the end has not been reached
    assert sum(1 for _ in steps) == 499
    assert [n.source.line for n in stream.notices.items] == [504]


def test_aborted_requests_are_no_actions(tmp_path: Path) -> None:
    failed = agent("", content=[], stopReason="aborted", errorMessage="Request was aborted", usage={"input": 0})
    half = agent("Half", stopReason="error", errorMessage="terminated", usage={"input": 0, "output": 0})
    entries = [entry("1", None, user("/mode")), entry("2", "1", failed), entry("3", "2", user("Count."))]
    entries += [entry("4", "3", agent("One.")), entry("5", "4", failed), entry("6", "5", half)]
    read = only(tmp_path, HEADER, *entries)
    assert words(read) == ["One.", "Half"]
    assert read.task == dense.Task("Count.")
    assert [o.text for step in read.steps for o in step.observations] == ["Request was aborted", "terminated"]
    assert [step.usage for step in read.steps] == [dense.Usage(5, 7, 1, 2, 0.25), None]


def test_other_messages(tmp_path: Path) -> None:
    shell = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 2}
    entries = [entry("1", None, user("Go.")), entry("2", "1", agent("One.")), entry("3", "2", shell)]
    entries.append(entry("4", "3", shell | {"excludeFromContext": True}))
    entries.append(entry("5", "4", type="custom_message", customType="x", content="injected"))
    entries.append(entry("6", "5", type="branch_summary", summary="left that"))
    entries.append(entry("7", "6", type="label", label="here"))
    (step,) = only(tmp_path, HEADER, *entries).steps
    assert [(o.origin, o.text, o.exit_code) for o in step.observations] == [
        ("user", "$ ls\na", 2),
        ("system", "injected", None),
        ("system", "left that", None),
    ]


def test_damage_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    entries = [entry("1", None, user("Go.")), '{"type": "mess', entry("3", "2", agent("One."))]
    entries += [entry("4", "3", type="hologram"), [1], entry("5", "4", {"role": "alien", "content": "x"})]
    entries.append(entry("6", "5", agent("Two.")))
    read = only(tmp_path, HEADER, *entries)
    assert words(read) == ["One.", "Two."]
    assert read.task == dense.Task("Go.")  # although the line between them is lost
    assert sorted(n.source.line or 0 for n in read.notices if n.kind == "skipped") == [3, 5, 6, 7]


def test_a_loop_of_parents_ends(tmp_path: Path) -> None:
    entries = [entry("1", None, user("Go.")), entry("2", "1", agent("One.")), entry("1", "2", user("Again"))]
    assert words(only(tmp_path, HEADER, *entries, entry("3", "2", agent("Two.")))) == ["One.", "Two."]


def test_repeated_history_counts_once(tmp_path: Path) -> None:
    entries = [entry("1", None, user("Go.")), entry("2", "1", agent("One."))]
    assert words(only(tmp_path, HEADER, *entries, *entries, entry("3", "2", agent("Two.")))) == ["One.", "Two."]


def test_openclaw(tmp_path: Path) -> None:
    ran = {"role": "toolResult", "toolCallId": "c", "content": [{"type": "text", "text": "no"}], "isError": True}
    entries = [entry("1", None, user("Go.")), entry("2", "1", agent("One.")), entry("3", "2", agent("Left."))]
    entries.append(entry("4", "3", type="leaf", targetId="2"))
    entries.append(entry("5", "4", ran | {"details": {"exitCode": 3}}))
    entries.append(entry("6", "5", agent("Two.")))
    entries.append(entry("7", "6", agent("Beside."), appendMode="side"))
    read = only(tmp_path, CLAW, *entries)
    assert (read.format, read.agent, words(read)) == ("openclaw", "openclaw", ["One.", "Two."])
    assert read.steps[0].observations == (dense.Observation("no", "c", is_error=True, exit_code=3),)


def test_a_reset_begins_another_trajectory(tmp_path: Path) -> None:
    entries = [entry("1", None, user("First.")), entry("2", "1", agent("One.")), entry("3", "2", type="reset")]
    entries += [entry("4", "3", user("Second.")), entry("5", "4", agent("Two."))]
    found = read(tmp_path, CLAW, *entries)
    assert [(t.id, t.task, words(t)) for t in found] == [
        ("s1", dense.Task("First."), ["One."]),
        ("s1#2", dense.Task("Second."), ["Two."]),
    ]


def test_a_checkpoint_beside_its_session_is_passed_over(tmp_path: Path) -> None:
    entries = [CLAW, entry("1", None, user("Go.")), entry("2", "1", agent("One."))]
    session(tmp_path / "s1.jsonl", *entries)
    session(tmp_path / "s1.checkpoint.77.jsonl", *entries)
    session(tmp_path / "s2.checkpoint.77.jsonl", *entries)
    names = [Path(t.source.path).name for t in dense.read(tmp_path)]
    assert names == ["s1.jsonl", "s2.checkpoint.77.jsonl"]


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        ([HEADER], "pi"),
        ([entry("1", None, user("Go."))], "pi"),
        ([CLAW], "openclaw"),
        ([HEADER, {"type": "custom", "customType": "model-snapshot"}], "openclaw"),
        ([{"type": "session", "id": "x"}], None),
        ([{"type": "message", "message": "hello"}], None),
        ([{"type": "user", "message": user("Go."), "parentUuid": None}], None),
        ([], None),
    ],
)
def test_claims(head: list[Any], claimed: str | None) -> None:
    assert [r.name for r in (Pi(), OpenClaw()) if r.claims(head)] == ([claimed] if claimed else [])
