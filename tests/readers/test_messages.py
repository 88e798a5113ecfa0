"""Chat messages: the files under fixtures/messages, and small ones made here for each dialect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.readers import Stream, read_streams
from dense.readers.formats.messages import Messages

FIXTURES = Path(__file__).parents[1] / "fixtures" / "messages"
ASKED = {"role": "user", "content": "Count."}
SAID = {"role": "assistant", "content": "Four."}


def read(tmp_path: Path, *values: Any) -> list[dense.Trajectory]:
    """The values as lines, or a single one as a document."""
    path = tmp_path / ("chat.json" if len(values) == 1 else "chat.jsonl")
    path.write_text("\n".join(map(json.dumps, values)))
    return list(dense.read(path))


def only(tmp_path: Path, *values: Any) -> dense.Trajectory:
    (trajectory,) = read(tmp_path, *values)
    return trajectory


def observed(step: dense.Step) -> list[tuple[str | None, str]]:
    return [(o.call_id, o.text) for o in step.observations]


@pytest.mark.parametrize("name", ["openai-list.json", "openai-object.json", "openai-one-message-a-line.jsonl"])
def test_openai(name: str) -> None:
    (read,) = dense.read(FIXTURES / name)
    assert read.task is not None
    assert read.task.instruction.startswith("The check in check.py fails")
    first, second, third, last = read.steps
    assert first.reasoning == "Two things to look at."
    assert [(c.name, c.arguments, c.id) for c in first.calls] == [
        ("bash", {"command": "cat ledger.py"}, "call_1"),
        ("bash", {"command": "python3 check.py"}, "call_2"),
    ]
    assert [o.call_id for o in first.observations] == ["call_2", "call_1"]
    assert observed(second) == [("call_3", "")]
    assert [(o.origin, o.text) for o in third.observations] == [("user", "Does the check pass?")]
    assert (len(last.calls), last.observations) == (1, ())
    where = first.source.line if name.endswith("l") else first.source.index
    assert where == (3 if name.endswith("l") else 2)


def test_anthropic() -> None:
    (read,) = dense.read(FIXTURES / "anthropic.json")
    first, second, last = read.steps
    assert (first.reasoning, first.message) == ("Two things to look at.", "I look around.")
    assert [o.is_error for o in first.observations] == [None, True]
    assert [(o.origin, o.text) for o in second.observations] == [
        ("tool", "[image: image/png, 74 bytes]"),
        ("user", "Be quick, please."),
    ]
    assert last.message == "It must add, not subtract."


def test_many_trajectories_have_ids_of_their_own(tmp_path: Path) -> None:
    assert [t.id for t in dense.read(FIXTURES / "openai-many.jsonl")] == ["a", "b"]
    assert [t.id for t in dense.read(FIXTURES / "anthropic-many.jsonl")] == ["anthropic-many#1", "anthropic-many#2"]
    twice = {"id": "x", "messages": [ASKED, SAID]}
    found = read(tmp_path, twice, twice, twice)
    assert [t.id for t in found] == ["x", "x#2", "x#3"]
    assert [(t.steps[0].source.line, t.steps[0].source.part) for t in found] == [(1, "x"), (2, "x#2"), (3, "x#3")]
    listed = read(tmp_path, [twice, [ASKED, SAID]])
    assert [(t.id, t.source.index) for t in listed] == [("x", 0), ("chat#1", 1)]


def test_what_holds_no_messages_is_reported(tmp_path: Path) -> None:
    good = {"messages": [ASKED, SAID]}
    first, second = read(tmp_path, good, {"messages": []}, good, {"messages": [ASKED]})
    assert [(n.kind, n.source.line) for n in first.notices] == [("skipped", 2)]
    assert [(n.kind, n.text, n.source.line) for n in second.notices] == [("note", "no message of an agent", 4)]


def test_responses_items(tmp_path: Path) -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Count."}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Look first."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "id": "f", "call_id": "c1", "name": "ls", "arguments": '{"path": "."}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** Begin"},
        {"type": "function_call_output", "call_id": "c1", "output": "a b"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "output_text", "text": "ok"}]},
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "four"}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Four."}]},
    ]
    read = only(tmp_path, items)
    first, last = read.steps
    assert read.task == dense.Task("Count.")
    assert (first.reasoning, first.message, first.source.index) == ("Look first.", "I look.", 1)
    assert [(c.name, c.arguments) for c in first.calls] == [("ls", {"path": "."}), ("patch", {"input": "*** Begin"})]
    assert observed(first) == [("c1", "a b"), ("c2", "ok")]
    assert [(c.name, c.arguments) for c in last.calls] == [("web_search", {"action": {"query": "four"}})]
    assert last.message == "Four."


def test_sharegpt(tmp_path: Path) -> None:
    turns = [
        {"from": "system", "value": "You count."},
        {"from": "human", "value": "Count."},
        {"from": "gpt", "value": "I look."},
        {"from": "function_call", "value": '{"name": "ls", "arguments": {"path": "."}}'},
        {"from": "observation", "value": "a b"},
        {"from": "gpt", "value": "Two."},
    ]
    read = only(tmp_path, {"conversations": turns})
    assert read.task == dense.Task("Count.")
    assert [step.message for step in read.steps] == ["I look.", "", "Two."]
    assert read.steps[1].calls == (dense.ToolCall("ls", {"path": "."}),)
    assert observed(read.steps[1]) == [(None, "a b")]


def test_tool_parts_that_repeat_as_they_stream(tmp_path: Path) -> None:
    tool = {"type": "tool-readFile", "toolCallId": "a"}
    parts = [
        {"type": "step-start"},
        {"type": "reasoning", "text": "Look first."},
        {"type": "text", "text": "I look."},
        tool | {"state": "input-streaming", "input": {}},
        tool | {"state": "input-available", "input": {"path": "x"}},
        tool | {"state": "output-available", "input": {"path": "x"}, "output": {"lines": 3}},
        {"type": "step-start"},
        {"type": "dynamic-tool", "toolName": "run", "toolCallId": "b", "input": {}, "errorText": "no such tool"},
        {"type": "text", "text": "Three."},
    ]
    shorter = {"id": "m2", "role": "assistant", "parts": parts[:4]}
    whole = shorter | {"parts": parts}
    asked = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Count."}]}
    read = only(tmp_path, asked, shorter, shorter, whole)
    first, second, last = read.steps
    assert read.task == dense.Task("Count.")
    assert (first.message, first.reasoning, first.source.line) == ("I look.", "Look first.", 2)
    assert first.calls == (dense.ToolCall("readFile", {"path": "x"}, "a"),)
    assert observed(first) == [("a", '{"lines":3}')]
    assert [(c.name, o.text, o.is_error) for c, o in zip(second.calls, second.observations, strict=True)] == [
        ("run", "no such tool", True)
    ]
    assert (last.message, last.calls) == ("Three.", ())


def test_contents_of_gemini(tmp_path: Path) -> None:
    contents = [
        {"role": "user", "parts": [{"text": "Count."}]},
        {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"functionCall": {"name": "ls", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"error": "denied"}}}]},
        {"role": "model", "parts": [{"text": "I cannot."}]},
    ]
    first, last = only(tmp_path, {"contents": contents}).steps
    assert (first.reasoning, first.calls) == ("Hm.", (dense.ToolCall("ls"),))
    assert [(o.text, o.is_error) for o in first.observations] == [("denied", True)]
    assert last.message == "I cannot."


def test_messages_of_frameworks(tmp_path: Path) -> None:
    called = {"type": "ai", "content": "", "tool_calls": [{"name": "ls", "args": {"path": "."}, "id": "1"}]}
    langchain = [{"type": "human", "content": "Count."}, called, {"type": "tool", "content": "a", "tool_call_id": "1"}]
    result = {"type": "tool-result", "toolCallId": "1", "toolName": "ls", "output": {"type": "text", "value": "a"}}
    call = {"type": "tool-call", "toolCallId": "1", "toolName": "ls", "input": {"path": "."}}
    core = [ASKED, {"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]
    for messages in (langchain, core):
        read = only(tmp_path, messages)
        assert read.task == dense.Task("Count.")
        assert read.steps[0].calls == (dense.ToolCall("ls", {"path": "."}, "1"),)
        assert observed(read.steps[0]) == [("1", "a")]


def test_one_message_a_line_is_read_lazily(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines = [ASKED, *[SAID] * 300]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"role": "cut')
    (stream,) = read_streams(path)
    assert isinstance(stream, Stream)
    steps = stream.counted()
    assert (stream.task, next(steps).source.line) == (dense.Task("Count."), 2)
    assert stream.notices.items == []
    assert sum(1 for _ in steps) == 299
    assert [n.source.line for n in stream.notices.items] == [302]


def test_damage_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    strange = [SAID] * 20 + [7, {"role": "alien", "content": "x"}, {"role": None, "content": None}]
    read = only(tmp_path, {"messages": [ASKED, *strange, SAID]})
    assert len(read.steps) == 21
    assert [(n.kind, n.source.index) for n in read.notices] == [("skipped", 21), ("skipped", 22), ("skipped", 23)]


def test_a_damaged_first_line_hides_nothing(tmp_path: Path) -> None:
    read = only(tmp_path, {"role": 7, "content": "?"}, ASKED, SAID, SAID)
    assert (len(read.steps), read.task) == (2, dense.Task("Count."))
    assert [(n.kind, n.source.line) for n in read.notices] == [("skipped", 1)]


def test_labels_never_pass(tmp_path: Path) -> None:
    labels = {"reward": 1, "score": 1, "scores": {"a": 1}, "is_correct": True, "ground_truth": "4", "resolved": True}
    labels |= {"mistake_step": 3, "verifier_output": "ok", "info": {"exit_status": "Submitted"}, "target": "4"}
    around = {"id": "x", "model": "m", "messages": [ASKED, SAID | {"reward": 1, "score": 0.5}]}
    plain, graded = only(tmp_path, around | {"messages": [ASKED, SAID]}), only(tmp_path, around | labels)
    assert plain == graded
    assert (plain.id, plain.model) == ("x", "m")


@pytest.mark.parametrize(
    "value",
    [
        {"name": "package", "version": "1.0.0", "dependencies": {}},
        {"task": "x", "reward": 0.5, "passed": 1},
        {"messages": "none"},
        {"messages": [{"level": "info", "text": "started"}]},
        {"messages": [ASKED]},
        {"messages": [SAID, *[{"level": "info"}] * 9]},
        [{"role": "admin", "content": "x"}, {"role": "assistant"}],
        [{"type": "function", "function": {"name": "ls"}}],
        [1, 2, 3],
        {"type": "message", "content": "x"},
        [],
        None,
        "assistant",
    ],
)
def test_other_json_is_not_claimed(value: Any) -> None:
    assert not Messages().claims([value])
    assert not Messages().claims([value, value])


def test_nothing_is_claimed_of_nothing() -> None:
    assert not Messages().claims([])


def _as_chat(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of an ATIF trajectory that keeps the raw answers, as a log of the chat has them."""
    chat: list[dict[str, Any]] = []
    for step in steps:
        chat.append({"role": "assistant" if step["source"] == "agent" else "user", "content": step["message"]})
        chat += [
            {"role": "user", "content": result["content"]}
            for result in step.get("observation", {"results": []})["results"]
        ]
    return chat


def test_raw_answers_of_terminus_in_a_chat_log_are_calls(tmp_path: Path) -> None:
    (path,) = FIXTURES.parent.glob("atif/jobs/raw-content/*/agent/trajectory.json")
    (recorded,) = dense.read(path)
    log = _as_chat(json.loads(path.read_text())["steps"])
    read = only(tmp_path, {"messages": log})
    assert any(step.calls for step in recorded.steps)
    assert [step.calls for step in read.steps] == [step.calls for step in recorded.steps]
    assert [step.message for step in read.steps] == [step.message for step in recorded.steps]
    assert {seen.origin for step in read.steps for seen in step.observations} == {"tool"}
    assert [[seen.text for seen in step.observations] for step in read.steps] == [
        [seen.text for seen in step.observations] for step in recorded.steps
    ]


def test_an_answer_that_terminus_could_not_parse_makes_no_call(tmp_path: Path) -> None:
    answer = json.dumps({"analysis": "a", "plan": "b", "commands": [{"keystrokes": "ls\n"}]})
    refused = {"role": "user", "content": "Previous response had parsing errors:\nERROR: Invalid JSON"}
    read = only(tmp_path, [ASKED, {"role": "assistant", "content": answer}, refused])
    assert read.steps[0].calls == ()
    assert [seen.origin for seen in read.steps[0].observations] == ["system"]


def test_fences_in_a_chat_log_are_calls_if_a_program_answers(tmp_path: Path) -> None:
    recorded = json.loads((FIXTURES.parent / "mini-swe-agent" / "v1-submitted.traj.json").read_text())["messages"]
    chat = [{"role": one["role"], "content": one["content"]} for one in recorded]
    read = only(tmp_path, {"messages": chat})
    assert [[call.arguments["command"] for call in step.calls] for step in read.steps[:3]] == [
        ["ls && cp ledger.py ledger.orig"],
        [],
        ["python3 check.py"],
    ]
    assert [seen.origin for step in read.steps[:3] for seen in step.observations] == ["tool", "user", "tool"]
    advice = {"role": "assistant", "content": "Run this:\n```bash\nls\n```"}
    read = only(tmp_path, [ASKED, advice, {"role": "user", "content": "It prints nothing."}])
    assert (read.steps[0].calls, read.steps[0].message) == ((), advice["content"])
