"""opencode, Copilot CLI and Qwen Code at the same little task, recorded with the real programs."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.errors import NoTrajectory
from dense.readers import Stream, files_of, read_streams
from dense.trajectory import Trajectory

FIXTURES = Path(__file__).parents[1] / "fixtures"
OPENCODE = FIXTURES / "opencode" / "fix"
RECORDED = {
    "opencode": OPENCODE / "opencode.db",
    "opencode-export": OPENCODE / "export.json",
    "opencode-files": OPENCODE / "storage",
    "copilot-cli": FIXTURES / "copilot-cli" / "fix",
    "qwen-code": FIXTURES / "qwen-code" / "fix",
}


def recorded(name: str) -> Trajectory:
    (read,) = dense.read(RECORDED[name])
    return read


@pytest.mark.parametrize("name", RECORDED)
def test_the_same_work_reads_the_same(name: str) -> None:
    read = recorded(name)
    assert read.format == name.removesuffix("-export").removesuffix("-files")
    assert read.model == "scripted"
    assert read.agent_version
    assert read.task and "The test in /app fails. Fix the price function" in read.task.instruction
    assert [len(step.calls) for step in read.steps] == [2, 1, 1, 2, 0, 1, 0]
    first = read.steps[0]
    assert first.message == "I look at the code and run the test at once."
    assert first.reasoning == "The test is said to fail."
    looked, ran = first.observations
    assert (looked.call_id, ran.call_id) == tuple(call.id for call in first.calls)
    assert "return sum(prices) - discount" in looked.text
    assert ran.exit_code == 1
    assert ran.text.startswith("Traceback")
    assert ran.text.rstrip().endswith("AssertionError: expected 30.0, got 39.75")
    answers = {seen.call_id: seen for seen in read.steps[3].observations}
    passed, missing = (answers[call.id] for call in read.steps[3].calls)
    assert (passed.text.strip(), passed.exit_code) == ("1 test passed", 0)
    assert missing.is_error is True
    assert not read.notices


@pytest.mark.parametrize("name", RECORDED)
def test_a_continued_session_is_one_session_of_two_requests(name: str) -> None:
    read = recorded(name)
    assert [turn.step for turn in read.turns] == [0, 5]
    assert "What do the notes tell?" in read.turns[1].text
    assert read.turns[1].timestamp


@pytest.mark.parametrize("name", RECORDED)
def test_usage_is_in_disjoint_buckets(name: str) -> None:
    usage = recorded(name).steps[1].usage
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output) == (200, 800, 50)


def test_one_session_out_of_many(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(RECORDED["opencode"].read_bytes())
    with sqlite3.connect(path) as database:
        columns = [str(row[1]) for row in database.execute("pragma table_info(session)")]
        changes = {"id": "'ses_0'", "time_updated": "1"}
        values = ", ".join(changes.get(name, name) for name in columns)
        database.execute(f"insert into session select {values} from session")
        for table in ("message", "part"):
            names = [str(row[1]) for row in database.execute(f"pragma table_info({table})")]
            changed = {"id": "'x' || id", "session_id": "'ses_0'", "message_id": "'x' || message_id"}
            values = ", ".join(changed.get(name, name) for name in names)
            database.execute(f"insert into {table} select {values} from {table}")
    assert [read.id for read in dense.read(path)] == ["ses_0", recorded("opencode").id]


def test_a_sub_agent_of_opencode_nests_in_its_call(tmp_path: Path) -> None:
    document = json.loads(RECORDED["opencode-export"].read_text())
    child: dict[str, Any] = {"info": {"id": "ses_child"}, "messages": document["messages"][:2]}
    tool = next(part for part in document["messages"][1]["parts"] if part["type"] == "tool")
    tool["tool"], tool["state"]["metadata"] = "task", {"sessionId": "ses_child"}
    (tmp_path / "export.json").write_text(json.dumps(document | {"children": [child]}))
    (read,) = dense.read(tmp_path)
    (inner,) = read.steps[0].subagents
    assert (inner.id, len(inner.steps)) == ("ses_child", 1)


def test_a_summary_for_a_compaction_is_no_action(tmp_path: Path) -> None:
    document = json.loads(RECORDED["opencode-export"].read_text())
    document["messages"][2]["info"]["summary"] = True
    (tmp_path / "export.json").write_text(json.dumps(document))
    (read,) = dense.read(tmp_path)
    assert len(read.steps) == 6


@pytest.mark.parametrize("damage", ["cut", "other", "missing column"])
def test_a_database_that_cannot_be_read_is_a_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "opencode.db"
    if damage == "cut":
        path.write_bytes(RECORDED["opencode"].read_bytes()[:20_000])
    else:
        names = ("a", "b", "c") if damage == "other" else ("session", "message", "part")
        with sqlite3.connect(path) as database:
            for name in names:
                database.execute(f"create table {name} (x)")
    with pytest.raises(NoTrajectory, match=r"opencode\.db: "):
        list(dense.read(path))
    assert not [item for item in read_streams(tmp_path) if isinstance(item, Stream)]
    assert [file.path.name for file in files_of(tmp_path)] == ["opencode.db"]


def test_a_sub_agent_of_copilot_nests_in_its_call(tmp_path: Path) -> None:
    def event(kind: str, **data: Any) -> str:
        return json.dumps(
            {"type": kind, "data": data, "id": "e", "parentId": None, "timestamp": "2026-01-01T00:00:00Z"}
        )

    call = {"toolCallId": "c1", "name": "task", "arguments": {"prompt": "Look."}}
    path = tmp_path / "events.jsonl"
    path.write_text(
        "\n".join(
            [
                event("session.start", sessionId="s", copilotVersion="1"),
                event("user.message", content="Go."),
                event("assistant.message", content="I ask.", toolRequests=[call]),
                event("assistant.message", content="Inner.", parentToolCallId="c1", toolRequests=[]),
                event("tool.execution_complete", toolCallId="c1", success=True, result={"content": "Inner."}),
                event("assistant.message", content="Done.", toolRequests=[]),
                event("strange.thing"),
            ]
        )
    )
    (read,) = dense.read(path)
    assert [step.message for step in read.steps] == ["I ask.", "Done."]
    (inner,) = read.steps[0].subagents
    assert [step.message for step in inner.steps] == ["Inner."]
    assert inner.task and inner.task.instruction == "Look."
    assert [notice.text for notice in read.notices] == ["unknown event 'strange.thing'"]
