"""`openhands`: event folders and lists of V1, flat lists and evaluation rows of V0."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.trajectory import Observation, ToolCall, Usage

FIXTURES = Path(__file__).parents[1] / "fixtures" / "openhands"
TASK = "The check in check.py fails: total() in ledger.py gives a wrong sum. Repair ledger.py so that check.py passes."


def conversation(name: str) -> Path:
    (folder,) = (path for path in (FIXTURES / name).iterdir() if path.is_dir())
    return folder


def one(path: Path) -> dense.Trajectory:
    (trajectory,) = dense.read(path)
    assert trajectory.format == "openhands"
    return trajectory


def written(tmp_path: Path, value: Any, name: str = "events.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(value))
    return path


def events_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((conversation(name) / "events").glob("*.json"))]


# -- V1


def test_an_event_folder() -> None:
    read = one(conversation("repair"))
    assert read.id == conversation("repair").name
    assert read.task and read.task.instruction == TASK
    assert (read.agent, read.model) == ("openhands", "openai/scripted")
    assert len(read.steps) == 9
    assert read.usage == Usage(9000, 0, 0, 450)
    assert Path(read.steps[0].source.path).name.startswith("event-00002-")
    assert not read.notices


def test_calls_of_one_answer_are_one_step() -> None:
    first = one(conversation("repair")).steps[0]
    assert [call.name for call in first.calls] == ["terminal", "file_editor"]
    assert [seen.call_id for seen in first.observations] == [call.id for call in first.calls]
    assert first.calls[0].arguments["command"] == "ls"
    assert (first.message, first.reasoning) == ("I look around.", "Both can be asked for at once.")
    assert first.usage == Usage(1000, 0, 0, 50)


def test_errors_and_exit_codes() -> None:
    steps = one(conversation("repair")).steps
    assert [(s.observations[0].is_error, s.observations[0].exit_code) for s in steps[1:6]] == [
        (False, 1),
        (False, None),
        (True, None),
        (False, 0),
        (True, None),
    ]


def test_a_stopped_run_tells_why() -> None:
    last = one(conversation("stopped")).steps[-1].observations[-1]
    assert (last.origin, last.is_error) == ("system", True)
    assert last.text.startswith("MaxIterationsReached: ")


def test_condensation_is_no_turn() -> None:
    read = one(conversation("condensed"))
    assert len(read.steps) == 5
    assert not read.notices


def test_pictures_become_markers() -> None:
    read = one(conversation("picture"))
    assert read.task and read.task.instruction.endswith("[image]")
    assert "base64" not in str(read)


def test_a_list_of_events_is_the_same(tmp_path: Path) -> None:
    read = one(written(tmp_path, events_of("repair")))
    folder = one(conversation("repair"))
    assert [step.calls for step in read.steps] == [step.calls for step in folder.steps]
    assert [step.observations for step in read.steps] == [step.observations for step in folder.steps]
    assert [step.source.index for step in read.steps][:2] == [2, 6]


def test_base_state_may_be_missing_or_broken(tmp_path: Path) -> None:
    shutil.copytree(conversation("repair"), tmp_path / "c")
    (tmp_path / "c" / "base_state.json").write_text("{nonsense")
    read = one(tmp_path / "c")
    assert (len(read.steps), read.model, read.usage) == (9, None, None)
    assert ["base_state.json" in notice.text for notice in read.notices] == [True]


def test_damaged_event_files_are_reported(tmp_path: Path) -> None:
    shutil.copytree(conversation("repair"), tmp_path / "c")
    broken, unknown, *_ = sorted((tmp_path / "c" / "events").glob("event-0000[67]*"))
    broken.write_text('{"kind": ')
    unknown.write_text('{"kind": "SingEvent", "source": "agent"}')
    read = one(tmp_path / "c")
    assert len(read.steps) == 8
    skipped = {Path(notice.source.path).name for notice in read.notices if notice.kind == "skipped"}
    assert {broken.name, unknown.name} <= skipped


def user(text: str) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"kind": "MessageEvent", "source": "user", "llm_message": message}


def test_late_words_rejections_and_interleaved_observations(tmp_path: Path) -> None:
    def action(call: str, answer: str) -> dict[str, Any]:
        event = {"kind": "ActionEvent", "source": "agent", "thought": [], "tool_name": "terminal", "tool_call_id": call}
        tool_call = {"id": call, "name": "terminal", "arguments": '{"command": "ls"}'}
        return {**event, "llm_response_id": answer, "tool_call": tool_call, "action": None}

    def seen(call: str) -> dict[str, Any]:
        observation = {"kind": "X", "content": [{"type": "text", "text": f"of {call}"}], "exit_code": -1}
        return {"kind": "ObservationEvent", "source": "environment", "tool_call_id": call, "observation": observation}

    rejected = {"kind": "UserRejectObservation", "source": "user", "tool_call_id": "c3", "rejection_reason": "No."}
    events = [user("Count."), action("c1", "r1"), seen("c1"), action("c2", "r1"), seen("c2")]
    read = one(written(tmp_path, [*events, action("c3", "r2"), rejected, user("Go on.")]))
    assert read.task and read.task.instruction == "Count."
    assert [[call.id for call in step.calls] for step in read.steps] == [["c1", "c2"], ["c3"]]
    assert [seen.call_id for seen in read.steps[0].observations] == ["c1", "c2"]
    assert read.steps[0].observations[0].exit_code is None
    assert read.steps[1].observations == (
        Observation("No.", "c3", "user", True),
        Observation("Go on.", None, "user", is_request=True),
    )


def test_acp_calls_keep_the_last_word(tmp_path: Path) -> None:
    def acp(call: str, status: str, output: str | None = None) -> dict[str, Any]:
        event = {"kind": "ACPToolCallEvent", "source": "agent", "tool_call_id": call, "title": "ls", "status": status}
        return {**event, "raw_input": {"path": "."}, "raw_output": output, "is_error": status == "failed"}

    events = [acp("a", "pending"), acp("b", "pending"), acp("a", "completed", "A"), acp("b", "failed", "B")]
    read = one(written(tmp_path, [user("Count."), *events, acp("c", "completed", "C")]))
    assert [[call.id for call in step.calls] for step in read.steps] == [["a", "b"], ["c"]]
    assert [(seen.call_id, seen.text, seen.is_error) for seen in read.steps[0].observations] == [
        ("a", "A", False),
        ("b", "B", True),
    ]


# -- V0


def test_a_flat_list() -> None:
    read = one(FIXTURES / "v0" / "trajectory.json")
    assert read.task and read.task.instruction == TASK
    assert read.model == "scripted"
    assert [step.source.index for step in read.steps] == [5, 7, 9, 11, 13, 15]
    assert read.steps[0].calls == (ToolCall("execute_bash", {"command": "python3 check.py"}, "call_1"),)
    assert read.steps[0].observations[0].exit_code == 1
    assert read.steps[1].calls == (ToolCall("think", {"thought": "The operator must be +=."}, "call_2"),)
    assert read.steps[1].observations[0].call_id == "call_2", "linked by its cause"
    assert read.steps[3].calls[0].name == "read", "no metadata: the action itself"
    assert read.steps[3].observations[0].is_error is True


def test_evaluation_rows() -> None:
    first, second = dense.read(FIXTURES / "v0-eval" / "output.jsonl")
    assert [(run.id, len(run.steps)) for run in (first, second)] == [("ledger-1", 6), ("ledger-2", 1)]
    assert (first.source.part, first.source.line) == ("row 0", 1)
    assert (first.steps[0].source.line, first.steps[0].source.index, first.steps[0].source.part) == (1, 5, "row 0")
    assert first.task and (first.task.instruction, first.task.name) == (TASK, "ledger-1")


def test_a_row_without_events_is_reported() -> None:
    *_, last = dense.read(FIXTURES / "v0-eval" / "output.jsonl")
    assert [notice.source.line for notice in last.notices if notice.kind == "skipped"] == [3]


def test_labels_do_not_pass(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (FIXTURES / "v0-eval" / "output.jsonl").read_text().splitlines()]
    path = tmp_path / "output.jsonl"

    def read_rows() -> list[dense.Trajectory]:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return list(dense.read(path))

    before = read_rows()
    for row in rows:
        row |= dict.fromkeys(
            ("test_result", "error", "resolved", "git_patch", "report", "score", "fine_grained_report"), "CHANGED"
        )
        row["instance"] = {"patch": "CHANGED", "test_patch": "CHANGED", "FAIL_TO_PASS": "CHANGED"}
        for event in row["history"]:
            event["critic_result"] = {"score": 1.0}
    assert read_rows() == before


def run_event(number: int, response: str | None, **more: Any) -> dict[str, Any]:
    said = {
        "content": "I look.",
        "tool_calls": [{"id": f"c{number}", "function": {"name": "bash", "arguments": '{"a": 1}'}}],
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    answer = {"id": response, "model": "m", "usage": usage, "choices": [{"message": said}]}
    metadata = {"function_name": "bash", "tool_call_id": f"c{number}", "model_response": answer}
    return {
        "id": number,
        "source": "agent",
        "action": "run",
        "args": {"command": "ls"},
        "tool_call_metadata": metadata,
        **more,
    }


def result(number: int, cause: int) -> dict[str, Any]:
    event = {"id": number, "source": "agent", "observation": "run", "content": f"after {cause}", "cause": cause}
    return {**event, "extras": {"metadata": {"exit_code": 0}}}


ASKED = {"id": 0, "source": "user", "action": "message", "args": {"content": "Count."}}


def test_v0_calls_of_one_answer_are_one_step(tmp_path: Path) -> None:
    events = [ASKED, run_event(1, "r"), result(2, 1), run_event(3, "r"), result(4, 3), run_event(5, "s"), result(6, 5)]
    read = one(written(tmp_path, events, "t.json"))
    assert [[call.id for call in step.calls] for step in read.steps] == [["c1", "c3"], ["c5"]]
    assert [seen.call_id for seen in read.steps[0].observations] == ["c1", "c3"]
    assert read.steps[0].message == "I look."
    assert read.steps[0].usage == Usage(6, 4, None, 2)
    assert read.usage == Usage(12, 8, None, 4)


def test_v0_what_the_harness_did_is_left_out(tmp_path: Path) -> None:
    setup = {"id": 1, "source": "environment", "action": "run", "args": {"command": "git config"}}
    events = [ASKED, setup, result(2, 1), run_event(3, "r"), result(4, 3)]
    read = one(written(tmp_path, events, "t.json"))
    assert [seen.text for step in read.steps for seen in step.observations] == ["after 3"]
    assert not read.notices


@pytest.mark.parametrize("tag", ["issue_description", "pr_description"])
def test_v0_the_task_without_its_prompt(tmp_path: Path, tag: str) -> None:
    asked = {**ASKED, "args": {"content": f"<uploaded_files>x</uploaded_files>\n<{tag}>\nCount.\n</{tag}>\nBe good."}}
    read = one(written(tmp_path, [asked, run_event(1, "r")], "t.json"))
    assert read.task and read.task.instruction == "Count."


def test_v0_pairs_of_the_oldest_rows(tmp_path: Path) -> None:
    row = {
        "instance_id": "i",
        "history": [[ASKED, {}], [run_event(1, None), result(2, 1)]],
        "metrics": {"accumulated_cost": 0.5},
    }
    path = tmp_path / "output.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row) + "\n")
    first, second = dense.read(path)
    assert [(run.id, len(run.steps)) for run in (first, second)] == [("i", 1), ("i#row 1", 1)]
    assert first.steps[0].source.index == 1
    assert first.usage == Usage(cost_usd=0.5)


@pytest.mark.parametrize(
    "other", [{"history": [1, 2]}, {"source": "agent", "action": "x"}, {"kind": "Pod", "source": "x"}]
)
def test_other_files_are_not_claimed(tmp_path: Path, other: dict[str, Any]) -> None:
    with pytest.raises(dense.DenseError):
        list(dense.read(written(tmp_path, other, "x.json")))
