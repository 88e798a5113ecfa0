"""Sessions of Gemini CLI: the recorded ones under fixtures/gemini-cli, and small ones made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.readers.formats.gemini_cli import GeminiCli

FIXTURES = Path(__file__).parents[1] / "fixtures" / "gemini-cli"
HEADER = {"sessionId": "12345678-aaaa", "projectHash": "ff", "kind": "main"}


def recorded(name: str) -> Path:
    (path,) = (FIXTURES / name).rglob("chats/session-*")
    return path


def only(path: Path) -> dense.Trajectory:
    (trajectory,) = dense.read(path)
    return trajectory


def asked(key: str, text: str) -> dict[str, Any]:
    return {"id": key, "timestamp": "T", "type": "user", "content": [{"text": text}]}


def answered(key: str, text: Any, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    tokens = {"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 1}
    message = {"id": key, "timestamp": "T", "type": "gemini", "content": text, "model": "m", "tokens": tokens}
    return message | {"toolCalls": list(calls)} | more


def call(key: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "name": "run", "args": {"command": key}, "status": "success"} | more


def result(key: str, text: str) -> dict[str, Any]:
    return {"functionResponse": {"id": key, "name": "run", "response": {"output": text}}}


def session(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / "session-1-12345678.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in (HEADER, *records)))
    return path


def test_a_recorded_session() -> None:
    read = only(recorded("fix"))
    assert read.id == read.source.path.rpartition("/")[2].rpartition("-")[2][:8] + read.id[8:]
    assert (read.agent, read.model, len(read.steps)) == ("gemini-cli", "scripted", 8)
    assert read.task is not None
    assert read.task.instruction.startswith("The test in /app fails.")
    first = read.steps[0]
    assert first.source.line == 5  # where the message was first written, not where it was written again
    assert first.reasoning.startswith("Looking first\nThe test is said to fail.")
    assert [c.name for c in first.calls] == ["run_shell_command", "read_file", "read_file"]
    assert [c.id for c in first.calls] == [o.call_id for o in first.observations]
    assert read.steps[2].observations[0].is_error is True
    assert read.steps[1].usage == dense.Usage(200, 800, None, 50)
    assert read.steps[4].observations[1].text.endswith("[image: image/png, 100 bytes]")
    assert read.steps[-1].calls == read.steps[-1].observations == ()
    assert read.notices == ()


def test_a_subagent_belongs_to_the_call_that_started_it() -> None:
    read = only(recorded("fix"))
    (step,) = [step for step in read.steps if step.subagents]
    (helper,) = step.subagents
    assert [c.name for c in step.calls] == ["write_file", "invoke_agent"]
    assert len(helper.steps) == 2
    assert helper.task == dense.Task("Check total in /app.")
    assert len(list(dense.read(FIXTURES / "fix"))) == 1  # the folder's walk does not read it a second time


def test_subagents_that_no_step_names_are_not_lost(tmp_path: Path) -> None:
    path = session(tmp_path, asked("u", "Go."), answered("a", "Done."))
    (tmp_path / HEADER["sessionId"]).mkdir()
    side = tmp_path / HEADER["sessionId"] / "sub.jsonl"
    side.write_text("\n".join(map(json.dumps, (HEADER | {"sessionId": "sub"}, answered("b", "Helped.")))))
    assert [t.id for t in dense.read(path)] == [HEADER["sessionId"], "sub"]


def test_rewound_messages_are_gone() -> None:
    read = only(recorded("rewound"))
    words = json.dumps([step.message for step in read.steps]) + str([step.calls for step in read.steps])
    assert len(read.steps) == 4
    assert "wrong.txt" not in words
    assert [o.text for o in read.steps[1].observations] == ["Read the notes."]


def test_a_compressed_history_takes_nothing_away() -> None:
    read = only(recorded("compressed"))
    assert [step.message for step in read.steps] == ["I count.", "There are 4 files.", "", "They tell of the discount."]
    (summary,) = [o for step in read.steps for o in step.observations if o.origin == "system"]
    assert summary.text.startswith("<state_snapshot>")
    assert "Got it" not in repr(read.steps)


def test_the_whole_session_in_one_file_of_older_versions() -> None:
    read = only(recorded("json-file"))
    assert read.task == dense.Task("Is there a missing.txt?")
    assert [step.source.index for step in read.steps] == [1, 2]
    assert [o.is_error for o in read.steps[0].observations] == [True, False, True]


def test_stream_json() -> None:
    read = only(FIXTURES / "stream-json" / "looks.jsonl")
    assert (read.task, read.model, read.usage) == (dense.Task("Look."), "scripted", dense.Usage(2000, 0, None, 100))
    first, last = read.steps
    assert [c.id for c in first.calls] == [o.call_id for o in first.observations]
    assert [o.is_error for o in first.observations] == [False, True]
    assert (last.message, last.source.line) == ("Done.", 8)


def test_stream_json_pieces_are_one_message(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    piece = {"type": "message", "role": "assistant", "delta": True}
    records = [{"type": "init", "session_id": "s", "model": "m"}, {"type": "message", "role": "user", "content": "Hi"}]
    records += [piece | {"content": "Four "}, piece | {"content": "files."}, {"type": "strange"}]
    stats = {"total_tokens": 130, "input_tokens": 100, "output_tokens": 20, "cached": 60}
    path.write_text("\n".join(map(json.dumps, [*records, {"type": "result", "status": "success", "stats": stats}])))
    read = only(path)
    assert [step.message for step in read.steps] == ["Four files."]
    assert read.usage == dense.Usage(40, 60, None, 30)  # thoughts are in the total alone
    assert [(n.kind, n.source.line) for n in read.notices] == [("skipped", 5)]


def test_tokens_are_disjoint(tmp_path: Path) -> None:
    (step,) = only(session(tmp_path, asked("u", "Go."), answered("a", "Done."))).steps
    assert step.usage == dense.Usage(61, 40, None, 15)
    (bare,) = only(session(tmp_path, asked("u", "Go."), answered("a", "Done.", tokens=None))).steps
    assert bare.usage is None


def test_a_result_that_stands_only_in_the_users_message(tmp_path: Path) -> None:
    later = {"id": "r", "type": "user", "content": [result("c1", "twice"), result("c2", "late")]}
    calls = (call("c1", result=[result("c1", "once")]), call("c2", status="cancelled"))
    (step,) = only(session(tmp_path, asked("u", "Go."), answered("a", "", *calls), later)).steps
    assert [(o.call_id, o.text, o.is_error) for o in step.observations] == [("c1", "once", False), ("c2", "late", None)]


def test_commands_to_the_program_are_no_task(tmp_path: Path) -> None:
    opening = [asked("1", "<session_context>\nLinux</session_context>"), asked("2", "/help"), asked("3", "?")]
    read = only(session(tmp_path, *opening, asked("4", "Count."), answered("a", "Four.")))
    assert read.task == dense.Task("Count.")


def test_a_history_that_only_a_control_record_has(tmp_path: Path) -> None:
    update = {"$set": {"messages": [asked("u", "Count."), answered("a", [{"text": "Four."}])]}}
    read = only(session(tmp_path, update, asked("v", "Sure?"), answered("b", "Yes.")))
    assert [step.message for step in read.steps] == ["Four.", "Yes."]
    assert read.task == dense.Task("Count.")


def test_damage_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    strange = [{"id": "s", "type": "hologram"}, {"what": 1}, [1], '{"id": "cut', {"$rewindTo": "nobody"}]
    read = only(session(tmp_path, asked("u", "Count."), *strange, answered("a", None), answered("b", "Four.")))
    assert [step.message for step in read.steps] == ["", "Four."]
    assert sorted(n.source.line or 0 for n in read.notices) == [3, 4, 5, 6, 7]
    assert {n.kind for n in read.notices} == {"skipped"}


def test_errors_of_the_program_are_its_own_words(tmp_path: Path) -> None:
    error = {"id": "e", "type": "error", "content": "quota exceeded"}
    (step,) = only(
        session(tmp_path, asked("u", "Go."), answered("a", "Hm."), error, error | {"id": "i", "type": "info"})
    ).steps
    assert step.observations == (dense.Observation("quota exceeded", origin="system", is_error=True),)


def test_a_subagents_name_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_text(json.dumps(answered("x", "Secret.")))
    calls = [call("c", agentId=name, result="ok") for name in ("../secret", "/etc/passwd", "..", "")]
    (step,) = only(session(tmp_path, asked("u", "Go."), answered("a", "", *calls))).steps
    assert step.subagents == ()


@pytest.mark.parametrize(
    "value", [{"sessionId": "s"}, {"type": "init"}, {"type": "init", "model": 1, "session_id": "s"}]
)
def test_other_json_is_not_claimed(value: Any) -> None:
    assert not GeminiCli().claims([value])
