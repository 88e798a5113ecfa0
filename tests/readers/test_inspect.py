"""Logs of Inspect AI: the recorded ones under fixtures/inspect, and small ones made here for what those do not show."""

from __future__ import annotations

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.errors import NoTrajectory, SkippedRecords
from dense.readers import UnreadFile, read_streams

FIXTURES = Path(__file__).parents[1] / "fixtures" / "inspect"


def recorded(name: str) -> Path:
    (path,) = (FIXTURES / name / "logs").iterdir()
    return path


def by_id(path: Path) -> dict[str, dense.Trajectory]:
    return {trajectory.id: trajectory for trajectory in dense.read(path)}


def said(number: int, text: str = "", **more: Any) -> dict[str, Any]:
    return {"id": f"a{number}", "role": "assistant", "content": text, "source": "generate", **more}


def called(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "function": name, "arguments": arguments, "type": "function"}


def model_event(message: dict[str, Any], inputs: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 5, "input_tokens_cache_read": 3, "total_cost": 0.5}
    output = {"choices": [{"message": message}], "usage": usage}
    return {"event": "model", "model": "m", "input": inputs or [], "output": output, "timestamp": "T", **more}


def sample(**more: Any) -> dict[str, Any]:
    messages = [{"id": "u", "role": "user", "content": "Template: Count."}, said(1, "Four.")]
    return {"id": 1, "epoch": 1, "input": "Count.", "target": "4", "messages": messages, "scores": {}, **more}


def log(*samples: dict[str, Any], **more: Any) -> dict[str, Any]:
    info = {"task": "counting", "model": "openai/m", "packages": {"inspect_ai": "0.3.1"}}
    plan = {"steps": [{"solver": "system_message"}, {"solver": "react"}]}
    return {"version": 2, "status": "success", "eval": info, "plan": plan, "samples": list(samples)} | more


def read(tmp_path: Path, value: dict[str, Any]) -> list[dense.Trajectory]:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(value))
    return list(dense.read(path))


def only(tmp_path: Path, value: dict[str, Any]) -> dense.Trajectory:
    (trajectory,) = read(tmp_path, value)
    return trajectory


def archive(path: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in members.items():
            file.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path


def test_a_recorded_log() -> None:
    found = by_id(recorded("repair"))
    assert {key: len(t.steps) for key, t in found.items()} == {
        "repair_epoch_1": 8,
        "picture_epoch_1": 1,
        "broken_epoch_1": 2,
    }
    repair = found["repair_epoch_1"]
    assert repair.task is not None
    assert repair.task.instruction.startswith("The check in check.py fails")
    assert repair.task.name == "repair/repair"
    assert (repair.agent, repair.agent_version, repair.model) == ("react", "0.3.285", "openai/scripted")
    assert repair.usage == dense.Usage(8000, 0, None, 400)
    assert all(step.usage == dense.Usage(1000, 0, None, 50) and step.timestamp for step in repair.steps)
    first = repair.steps[0]
    assert first.reasoning == "Two things to look at; I can ask for both at once."
    assert [call.id for call in first.calls] == [o.call_id for o in first.observations] == ["call_01_0", "call_01_1"]
    assert first.source.part == "repair_epoch_1"
    assert first.source.index == 2


def test_a_submit_call_that_was_cut_out_of_the_conversation_is_a_call() -> None:
    last = by_id(recorded("repair"))["repair_epoch_1"].steps[-1]
    assert last.message == "All is well."
    assert [(call.name, call.arguments) for call in last.calls] == [("submit", {"answer": "repaired"})]
    assert [(o.text, o.call_id) for o in last.observations] == [("repaired", last.calls[0].id)]


def test_what_ended_a_sample_is_observed_last() -> None:
    broken = by_id(recorded("repair"))["broken_epoch_1"].steps[-1]
    assert [(o.origin, o.is_error) for o in broken.observations] == [("system", True)]
    assert "no answer to 'why?'" in broken.observations[0].text
    limited = by_id(recorded("epochs"))["delegate_epoch_2"].steps[-1]
    assert limited.observations[-1] == dense.Observation("Message limit reached. count: 8; limit: 8", origin="system")


def test_chunks_give_the_same_as_one_member() -> None:
    whole, chunked = by_id(recorded("repair")), by_id(recorded("chunked"))
    assert whole.keys() == chunked.keys()
    for key, trajectory in whole.items():
        assert chunked[key].task == trajectory.task
        pairs = zip(chunked[key].steps, trajectory.steps, strict=True)
        assert all(a.calls == b.calls and a.observations == b.observations and a.usage == b.usage for a, b in pairs)


def test_epochs_are_trajectories_of_their_own_and_an_agent_in_a_tool_is_a_subagent() -> None:
    found = by_id(recorded("epochs"))
    assert list(found) == ["delegate_epoch_1", "delegate_epoch_2"]
    step = found["delegate_epoch_1"].steps[0]
    (helper,) = step.subagents
    assert (helper.agent, len(helper.steps), helper.usage) == ("reader", 2, dense.Usage(2000, 0, None, 100))
    assert helper.steps[-1].calls[0].name == "submit"
    assert found["delegate_epoch_1"].usage == dense.Usage(4000, 0, None, 200)
    assert not any(step.subagents for step in found["delegate_epoch_2"].steps)


def test_images_are_markers() -> None:
    task = by_id(recorded("repair"))["picture_epoch_1"].task
    assert task is not None
    assert task.instruction == "What colour is the upper half?\n[image: image/png, 74 bytes]"


def test_a_log_without_samples_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoTrajectory, match="no sample was logged: the status of the run is 'started'"):
        list(dense.read(recorded("killed")))
    with pytest.raises(NoTrajectory, match=r"the status of the run is 'error' \(no such model\)"):
        read(tmp_path, log(status="error", error={"message": "no such model"}))


def test_another_archive_is_not_a_trace(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.eval", {"samples/1_epoch_1.json": sample(), "readme.txt": b"hello"})
    with pytest.raises(NoTrajectory, match="not an Inspect log"):
        list(dense.read(path))
    (unread,) = read_streams(path)
    assert isinstance(unread, UnreadFile)
    assert not unread.is_trace
    (tmp_path / "y.eval").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(NoTrajectory, match="damaged or was cut off"):
        list(dense.read(tmp_path / "y.eval"))


def test_damaged_members_are_named_and_the_others_kept(tmp_path: Path) -> None:
    header = log()
    members = {"header.json": header, "samples/a_epoch_1.json": sample(id="a")}
    members |= {"samples/b_epoch_1.json": b'{"id": "b", ', "samples/c_epoch_1.json": sample(id="c"), "_journal/x": 1}
    path = archive(tmp_path / "x.eval", members | {"samples/d_epoch_1.json": b"\xff\xfe{"})
    first, second = dense.read(path)
    assert [first.id, second.id] == ["a_epoch_1", "c_epoch_1"]
    reported = [(n.kind, n.source.part) for n in (*first.notices, *second.notices)]
    assert reported == [("skipped", "samples/b_epoch_1.json"), ("skipped", "samples/d_epoch_1.json")]


def test_zstd_damage_is_a_notice(tmp_path: Path) -> None:
    data = bytearray(recorded("repair").read_bytes())
    start = data.index(b"samples/picture_epoch_1.json")
    data[start + 200 : start + 260] = bytes(60)
    path = tmp_path / "x.eval"
    path.write_bytes(data)
    found = list(dense.read(path))
    assert [t.id for t in found] == ["repair_epoch_1", "broken_epoch_1"]
    (notice,) = [n for t in found for n in t.notices]
    assert notice.source.part == "samples/picture_epoch_1.json"
    assert "cannot be decompressed" in notice.text
    with pytest.raises(SkippedRecords):
        list(dense.read(path, strict=True))


def test_attachments_are_put_in_and_missing_ones_reported(tmp_path: Path) -> None:
    call = called("bash", "c1", cmd="attachment://h2")
    tool = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "attachment://h1"}]}
    messages = [said(1, "attachment://gone", tool_calls=[call]), tool]
    value = sample(messages=messages, input="attachment://h1", attachments={"h1": "long text", "h2": "ls"})
    read = only(tmp_path, log(value))
    assert read.task is not None
    assert read.task.instruction == "long text"
    assert read.steps[0].calls[0].arguments == {"cmd": "ls"}
    assert read.steps[0].observations[0].text == "long text"
    assert [(n.kind, n.text) for n in read.notices] == [("skipped", "attachment://gone is not among the attachments")]


def test_the_instruction_is_the_input_unless_choices_are_shown(tmp_path: Path) -> None:
    plain = only(tmp_path, log(sample())).task
    chosen = only(tmp_path, log(sample(choices=["3", "4"]))).task
    assert plain is not None
    assert chosen is not None
    assert (plain.instruction, chosen.instruction) == ("Count.", "Template: Count.")


def test_scorers_cost_nothing(tmp_path: Path) -> None:
    grader = model_event({"id": "g", "role": "assistant", "content": "GRADE: C"}, span_id="s")
    spans = [{"event": "span_begin", "id": "p", "type": "scorers"}]
    spans += [{"event": "span_begin", "id": "s", "parent_id": "p", "type": "scorer"}]
    events = [model_event(said(1, "Four.")), *spans, grader]
    read = only(tmp_path, log(sample(events=events, model_usage={"m": {"input_tokens": 20, "output_tokens": 10}})))
    assert read.usage == dense.Usage(10, 3, None, 5, 0.5)
    assert len(read.steps) == 1
    unlogged = only(tmp_path, log(sample(events=[], model_usage={"m": {"input_tokens": 20, "output_tokens": 10}})))
    assert unlogged.usage == dense.Usage(20, None, None, 10)


def test_older_steps_are_spans_too(tmp_path: Path) -> None:
    """Before spans there were steps, and before message IDs the order tells which call gave which message."""
    grader = model_event({"role": "assistant", "content": "GRADE: C"})
    step = {"event": "step", "type": "scorer", "name": "graded"}
    events = [model_event({"role": "assistant", "content": "Four."}), step | {"action": "begin"}, grader]
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "Four."}]
    read = only(tmp_path, log(sample(messages=messages, events=[*events, step | {"action": "end"}])))
    assert read.usage == read.steps[0].usage == dense.Usage(10, 3, None, 5, 0.5)
    assert read.steps[0].timestamp == "T"


def test_a_compacted_conversation_is_taken_from_the_events(tmp_path: Path) -> None:
    user = {"id": "u", "role": "user", "content": "Count."}
    first, last = said(1, "One.", tool_calls=[called("bash", "c1", cmd="ls")]), said(2, "Four.")
    tool = {"id": "t", "role": "tool", "tool_call_id": "c1", "content": "a b c d"}
    summary = {"id": "s", "role": "user", "content": "So far: ls.", "metadata": {"summary": True}}
    events = [model_event(first, [user]), {"event": "compaction", "type": "summary"}]
    pool = [user, first, tool, summary]
    events.append(model_event(last) | {"input_refs": [[2, 4]]})
    value = sample(messages=[user, summary, last], events=events, events_data={"messages": pool})
    steps = only(tmp_path, log(value)).steps
    assert [step.message for step in steps] == ["One.", "Four."]
    assert [(o.origin, o.text) for o in steps[0].observations] == [("tool", "a b c d"), ("system", "So far: ls.")]
    assert steps[0].source.part == "1_epoch_1 events"


def test_a_conversation_that_the_solver_kept_to_itself(tmp_path: Path) -> None:
    user = {"id": "u", "role": "user", "content": "Count."}
    from_events = only(tmp_path, log(sample(messages=[user], events=[model_event(said(1, "Four."), [user])])))
    assert [step.message for step in from_events.steps] == ["Four."]
    output = {"choices": [{"message": said(1, "Four.")}]}
    from_output = only(tmp_path, log(sample(messages=[user], output=output)))
    assert [step.message for step in from_output.steps] == ["Four."]


def test_parts_of_inspect(tmp_path: Path) -> None:
    server = {"type": "tool_use", "id": "w", "name": "web_search", "arguments": '{"q": "x"}', "result": "found"}
    hidden = {"type": "reasoning", "reasoning": "c2VjcmV0", "redacted": True, "summary": "In short."}
    opaque = {"type": "data", "data": {"blob": "zzz"}}
    failed = {"role": "tool", "tool_call_id": "c", "content": "", "error": {"type": "timeout", "message": "too slow"}}
    older = {"role": "tool", "tool_call_id": "d", "content": "", "tool_error": "no file"}
    shown = {"role": "user", "tool_call_id": ["c"], "content": "the picture"}
    content = [hidden, {"type": "text", "text": "Hm."}, server, opaque]
    (step,) = only(tmp_path, log(sample(messages=[said(1) | {"content": content}, failed, older, shown]))).steps
    assert (step.reasoning, step.message) == ("In short.", "Hm.")
    assert [(c.name, c.arguments) for c in step.calls] == [("web_search", {"q": "x"})]
    reported = [(o.text, o.call_id, o.is_error, o.origin) for o in step.observations]
    assert reported == [
        ("found", "w", False, "tool"),
        ("too slow", "c", True, "tool"),
        ("no file", "d", True, "tool"),
        ("the picture", "c", None, "tool"),
    ]


def test_the_same_id_twice_is_still_unique(tmp_path: Path) -> None:
    assert [t.id for t in read(tmp_path, log(sample(), sample()))] == ["1_epoch_1", "1_epoch_1#2"]


def test_labels_never_pass(tmp_path: Path) -> None:
    path = recorded("epochs")
    value = json.loads(path.read_text())
    changed = copy.deepcopy(value)
    changed["results"] = {"scores": "changed"}
    changed["reductions"] = "changed"
    for one in changed["samples"]:
        one |= {"target": "changed", "scores": {"x": {"value": "changed"}}, "metadata": {"solution": "changed"}}
        one["store"] = {"reward": "changed"}
        for event in one["events"]:
            if event["event"] == "score":
                event |= {"score": {"value": "changed"}, "target": "changed"}
            if event["event"] == "sample_init":
                event["sample"]["target"] = "changed"
    before, after = read(tmp_path, value), read(tmp_path, changed)
    assert changed != value
    assert before == after
    assert "changed" not in repr(after)


@pytest.mark.parametrize(
    "value",
    [
        {"version": 2, "status": "success"},
        {"eval": {"model": "m"}, "version": 1, "status": "x"},
        {"version": "1.0", "name": "package"},
        [{"eval": 1}],
    ],
)
def test_other_json_is_not_claimed(value: Any) -> None:
    from dense.readers.formats.inspect.reader import InspectLog

    assert not InspectLog().claims([value])
