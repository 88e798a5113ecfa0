"""Kimi CLI, Cline, Droid (recorded) and Cursor, Goose, Pochi, AgentRx (constructed) at the same little task; rows of
Parquet; a trial of Terminal-Bench 1."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.errors import NoTrajectory
from dense.readers import UnreadFile, read_streams
from dense.trajectory import Trajectory, Usage

FIXTURES = Path(__file__).parents[1] / "fixtures"
RECORDED = {"kimi-cli": None, "cline": "scripted", "droid": "custom:scripted-0"}
"""What each names as its model: Kimi CLI's wire has none."""
TRIAL = FIXTURES / "terminal-bench-1" / "run" / "repair-ledger" / "repair-ledger.1-of-1.run"


def read(*path: str) -> Trajectory:
    (found,) = dense.read(FIXTURES.joinpath(*path))
    return found


@pytest.mark.parametrize("name", RECORDED)
def test_the_same_work_reads_the_same(name: str) -> None:
    found = read(name, "fix")
    assert (found.format, found.agent, found.model) == (name, name, RECORDED[name])
    assert found.task and found.task.instruction.startswith("The test in /app fails.")
    assert found.task.instruction.endswith("NOTES.md.")
    assert [len(step.calls) for step in found.steps][:5] == [2, 1, 1, 2, 0]
    first = found.steps[0]
    assert first.message == "I look at the code and run the test at once."
    assert first.reasoning == "The test is said to fail."
    answers = {seen.call_id: seen for seen in first.observations}
    looked, ran = (answers[call.id] for call in first.calls)
    assert "return sum(prices) - discount" in looked.text
    assert ran.exit_code == 1
    assert ran.text.startswith("Traceback") and ran.text.rstrip().endswith("AssertionError: expected 30.0, got 39.75")
    answers = {seen.call_id: seen for seen in found.steps[3].observations}
    passed, missing = (answers[call.id] for call in found.steps[3].calls)
    assert (passed.text.strip(), passed.exit_code) == ("1 test passed", 0)
    assert missing.is_error is True and "missing.txt" in missing.text
    assert all(step.timestamp for step in found.steps)
    assert found.usage is not None and found.usage.cache_read == 800 and found.usage.output
    assert not found.notices


def test_usage_counts_the_cache_once() -> None:
    assert read("kimi-cli", "fix").steps[1].usage == Usage(200, 800, 0, 50)
    assert read("cline", "fix").steps[1].usage == Usage(200, 800, 0, 50)
    assert read("droid", "fix").usage == Usage(4200, 800, 0, 250)


def test_a_continued_session_of_kimi_is_one_session() -> None:
    found = read("kimi-cli", "fix")
    assert [(turn.text, turn.step) for turn in found.turns[1:]] == [("What do the notes tell?", 5)]


def test_context_of_the_program_is_not_asked() -> None:
    """Droid sends reminders that only the model sees; Cline its environment; Cursor what is attached."""
    for name in ("droid", "cline"):
        assert "system-reminder" not in str(read(name, "fix").task)
    found = read("cursor", "projects")
    assert found.task is not None
    assert "attached_files" not in found.task.instruction and "user_query" not in found.task.instruction
    assert [turn.step for turn in found.turns] == [0, 4]


def test_calls_of_one_answer_of_cursor_are_one_step(tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    shutil.copyfile(FIXTURES / "cursor" / "globalStorage" / "state.vscdb", path)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "update cursorDiskKV set value = json_set(value, '$.toolFormerData.modelCallId', 'm1')"
            " where key like '%:b3' or key like '%:b4'"
        )
    connection.close()
    (found,) = dense.read(path)
    assert [len(step.calls) for step in found.steps] == [2, 1, 1, 0]
    assert [seen.exit_code for seen in found.steps[0].observations] == [None, 1]


def test_what_goose_shows_to_the_user_only_is_left_out(tmp_path: Path) -> None:
    def part(who: str) -> dict[str, Any]:
        return {"type": "text", "text": f"for the {who}", "annotations": {"audience": [who]}}

    path = tmp_path / "session.jsonl"
    lines = (FIXTURES / "goose" / "older" / "20250101_1.jsonl").read_text().splitlines()
    line = json.loads(lines[3])
    line["content"][0]["toolResult"]["value"] = [part("assistant"), part("user")]
    path.write_text("\n".join([*lines[:3], json.dumps(line), *lines[4:]]))
    (found,) = dense.read(path)
    assert found.steps[0].observations[0].text == "for the assistant"


def test_the_context_of_kimi_is_read_with_its_wire(tmp_path: Path) -> None:
    (wire,) = (FIXTURES / "kimi-cli").rglob("wire.jsonl")
    shutil.copyfile(wire, tmp_path / "wire.jsonl")
    talk = [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": "Done."}]
    (tmp_path / "context.jsonl").write_text("\n".join(map(json.dumps, talk)))
    shutil.copytree(wire.parent, tmp_path / "subagents" / "a1")
    assert [found.format for found in dense.read(tmp_path)] == ["kimi-cli"]


def test_messages_with_their_words_in_text(tmp_path: Path) -> None:
    """As a published set of SWE-agent's runs has them, in rows of Parquet."""
    talk = [{"role": "user", "text": "Do it."}, {"role": "ai", "text": "I look."}, {"role": "user", "text": "a b"}]
    (tmp_path / "t.json").write_text(json.dumps([*talk, {"role": "ai", "text": "Done."}]))
    (found,) = dense.read(tmp_path / "t.json")
    assert found.task and found.task.instruction == "Do it."
    assert [step.message for step in found.steps] == ["I look.", "Done."]


def test_an_empty_database_of_an_editor_is_no_failure(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "state.vscdb") as connection:
        connection.execute("create table cursorDiskKV (key text unique on conflict replace, value blob)")
    connection.close()
    (item,) = read_streams(tmp_path)
    assert isinstance(item, UnreadFile) and not item.is_trace
    assert item.reason.endswith("a database of cursor without a session")


def test_cursor_database() -> None:
    found = read("cursor", "globalStorage")
    assert (found.model, [len(step.calls) for step in found.steps]) == ("scripted", [1, 1, 1, 1, 0])
    first, second = found.steps[:2]
    assert (first.message, first.reasoning) == (
        "I look at the code and run the test at once.",
        "The test is said to fail.",
    )
    assert "return sum(prices) - discount" in first.observations[0].text
    assert (second.calls[0].arguments, second.observations[0].exit_code) == ({"command": "python3 test_prices.py"}, 1)
    assert found.steps[-1].usage == Usage(4000, output=200)


def test_cline_extensions() -> None:
    storage = ("cline", "Code", "User", "globalStorage")
    native = read(*storage, "saoudrizwan.claude-dev", "tasks")
    assert native.id == "1768000000000"
    assert native.task and native.task.instruction.startswith("The test in /app fails.")
    assert [turn.text for turn in native.turns[1:]] == ["What do the notes tell?"]
    assert not any("environment_details" in seen.text for step in native.steps for seen in step.observations)
    written = read(*storage, "rooveterinaryinc.roo-cline", "tasks")
    assert [call.name for step in written.steps for call in step.calls] == [
        "execute_command",
        "write_to_file",
        "attempt_completion",
    ]
    first, second = written.steps[:2]
    assert first.message == "I look at the code and run the test at once."
    assert first.calls[0].arguments == {"command": "python3 test_prices.py"}
    assert "AssertionError" in first.observations[-1].text
    assert {seen.origin for seen in first.observations} == {"tool"}
    assert second.calls[0].arguments["path"] == "NOTES.md"
    assert second.observations[0].text == "The content was successfully saved."


def test_goose() -> None:
    stored, older = read("goose", "sessions"), read("goose", "older")
    assert stored.usage == Usage(5000, output=250)
    assert stored.model == "scripted"
    for found in (stored, older):
        assert [len(step.calls) for step in found.steps] == [2, 1, 2, 0, 0]
        assert [turn.text for turn in found.turns[1:]] == ["What do the notes tell?"]
        ran, missing = found.steps[2].observations
        assert (ran.text, ran.is_error) == ("1 test passed\n", None)
        assert (missing.text, missing.is_error) == ("no such file: missing.txt", True)
    said = [seen for step in stored.steps for seen in step.observations if seen.origin == "system"]
    assert [seen.text for seen in said] == ["A summary of what was said."]


def test_pochi_repeats_a_call_as_it_streams() -> None:
    found = read("pochi")
    assert (found.format, found.agent) == ("pochi", "pochi")
    assert [call.arguments.get("command") for call in found.steps[0].calls] == ["python3 test_prices.py"]
    assert [seen.is_error for step in found.steps for seen in step.observations] == [None, None, True]


def test_agentrx_is_a_history_alone() -> None:
    found = read("agentrx")
    assert [step.agent for step in found.steps] == ["Orchestrator", "Orchestrator", "Coder"]
    assert found.steps[1].observations[0].exit_code == 1


def test_parquet_rows() -> None:
    rows = list(dense.read(FIXTURES / "messages" / "rows.parquet"))
    assert [(row.id, row.source.part, len(row.steps)) for row in rows] == [("a", "row 0", 4), ("b", "row 1", 2)]
    assert rows[0].task and rows[0].task.name == "a"
    assert [notice.source.part for notice in rows[1].notices] == ["row 2"]
    assert "resolved" not in repr(rows)
    (nested,) = dense.read(FIXTURES / "messages" / "nested.parquet")
    assert (nested.id, len(nested.steps)) == ("n", 4)


def test_parquet_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(NoTrajectory, match=r"Parquet needs pyarrow: .*\[parquet\]"):
        list(dense.read(FIXTURES / "messages" / "rows.parquet"))


def test_parquet_that_is_damaged_or_holds_no_traces(tmp_path: Path) -> None:
    whole = (FIXTURES / "messages" / "rows.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(NoTrajectory, match="the table cannot be read"):
        list(dense.read(tmp_path / "cut.parquet"))
    pyarrow: Any = pytest.importorskip("pyarrow")
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": [1]}), tmp_path / "other.parquet")
    with pytest.raises(NoTrajectory, match="without a column of messages"):
        list(dense.read(tmp_path / "other.parquet"))


def test_a_terminal_bench_trial_is_its_episodes() -> None:
    (found,) = dense.read(FIXTURES / "terminal-bench-1")
    assert found.id == "repair-ledger.1-of-1.run"
    assert found.task and found.task.name == "repair-ledger"
    assert found.task.instruction.startswith("The check in check.py fails")
    assert [[call.name for call in step.calls] for step in found.steps] == [
        ["bash_command", "bash_command"],
        ["bash_command"],
        ["bash_command", "mark_task_complete"],
    ]
    assert found.steps[0].calls[1].arguments["keystrokes"] == "python3 check.py\n"
    assert "total([2, 3]) = -5, expected 5" in found.steps[0].observations[0].text
    assert found.steps[2].observations[0].text.rstrip().endswith("#")
    assert "tmux wait" not in repr(found) and "is_resolved" not in repr(found)


def test_episodes_alone_have_the_instruction_of_their_prompt(tmp_path: Path) -> None:
    shutil.copytree(TRIAL / "agent-logs", tmp_path / "logs")
    (found,) = dense.read(tmp_path)
    assert found.task and found.task.instruction.startswith("The check in check.py fails")
    assert found.task.instruction.endswith("check.py passes.")


def test_a_recorded_terminal_is_read_if_there_is_nothing_else(tmp_path: Path) -> None:
    trial = tmp_path / "trial"
    shutil.copytree(TRIAL, trial)
    shutil.rmtree(trial / "agent-logs")
    shutil.copyfile(trial / "sessions" / "agent.cast", trial / "sessions" / "tests.cast")
    (found,) = dense.read(tmp_path)
    assert found.source.path.endswith("agent.cast")
    commands = [call.arguments["command"] for step in found.steps for call in step.calls]
    assert commands[:2] == ["ls", "python3 check.py"] and len(commands) == 4
    assert found.steps[1].observations[0].text.startswith("total([2, 3]) = -5, expected 5")
    assert "\x1b" not in repr(found)


def test_a_damaged_line_of_each_is_named(tmp_path: Path) -> None:
    for name, path in {"kimi-cli": "wire.jsonl", "droid": "d.jsonl", "cursor": "c.jsonl", "goose": "g.jsonl"}.items():
        source = next((FIXTURES / name).rglob("*.jsonl"))
        target = tmp_path / path
        target.write_text(source.read_text() + '{"cut": \n[1]\n' + json.dumps({"type": "new_kind"}) + "\n")
        (found,) = dense.read(target)
        assert found.format == name
        assert len(found.notices) >= 2, name
