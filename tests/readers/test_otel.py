"""`otel`: spans of both conventions and in all wrappings become the steps of the agent that they tell of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.trajectory import Observation, ToolCall, Usage

FIXTURES = Path(__file__).parents[1] / "fixtures" / "otel"
TASK = "The check in check.py fails: total() in ledger.py gives a wrong sum. Repair ledger.py so that check.py passes."


def one(path: Path) -> dense.Trajectory:
    (trajectory,) = dense.read(path)
    assert trajectory.format == "otel"
    return trajectory


def many(tmp_path: Path, *spans: Any) -> list[dense.Trajectory]:
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(span) + "\n" for span in spans) + "\n")
    return list(dense.read(path))


def of(tmp_path: Path, *spans: Any) -> dense.Trajectory:
    (trajectory,) = many(tmp_path, *spans)
    return trajectory


def span(id_: str, kind: str, parent: str | None = None, start: int = 0, **attributes: Any) -> dict[str, Any]:
    names = {name.replace("__", "."): value for name, value in attributes.items()}
    head = {
        "name": id_,
        "trace_id": "t",
        "span_id": id_,
        "parent_span_id": parent,
        "startTimeUnixNano": str(10**18 + start),
    }
    return {**head, "attributes": {"openinference.span.kind": kind, **names}}


def said(text: str, *given: tuple[str, str], calls: tuple[str, ...] = ()) -> dict[str, Any]:
    out: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        out["tool_calls"] = [
            {"tool_call": {"id": f"{c}-id", "function": {"name": c, "arguments": "{}"}}} for c in calls
        ]
    messages = [{"message": {"role": role, "content": content}} for role, content in given]
    return {"llm__input_messages": messages, "llm__output_messages": [{"message": out}]}


# -- fixtures of real programs


@pytest.mark.parametrize("name", ["repair.spans.jsonl", "repair.otlp.jsonl"])
def test_genai(name: str) -> None:
    read = one(FIXTURES / "genai" / name)
    assert read.task and read.task.instruction == TASK
    assert (read.agent, read.model, len(read.steps)) == ("repairer", "scripted", 5)
    assert read.usage == Usage(5000, output=250)
    first = read.steps[0]
    assert first.calls == (
        ToolCall("shell", {"command": "ls"}, "call_01_0"),
        ToolCall("shell", {"command": "cat ledger.py"}, "call_01_1"),
    )
    assert [seen.call_id for seen in first.observations] == ["call_01_0", "call_01_1"]
    assert first.reasoning == "Both can be asked for at once."
    assert first.timestamp and re.fullmatch(r"20\d\d-\d\d-\d\dT[\d:]{8}\.\d{6}Z", first.timestamp)
    assert read.steps[-1].message == "total() adds now; check.py passes."
    assert read.steps[-1].calls == ()


def test_lines_and_otlp_say_the_same() -> None:
    lines, otlp = (one(FIXTURES / "genai" / name) for name in ("repair.spans.jsonl", "repair.otlp.jsonl"))
    assert [(s.message, s.calls, s.observations) for s in lines.steps] == [
        (s.message, s.calls, s.observations) for s in otlp.steps
    ]
    assert [step.source.line for step in lines.steps] == [1, 4, 6, 8, 10]
    batches = [json.loads(line) for line in Path(otlp.source.path).read_text().splitlines()]
    for step in otlp.steps:
        assert step.source.line is not None and step.source.index is not None
        scopes = [scope for part in batches[step.source.line - 1]["resourceSpans"] for scope in part["scopeSpans"]]
        assert [span for scope in scopes for span in scope["spans"]][step.source.index]["name"] == "chat scripted"


def test_a_tool_that_broke() -> None:
    last = one(FIXTURES / "genai" / "broken.spans.jsonl").steps[-1]
    assert last.observations == (Observation("no answer to 'why?'", "call_02_0", is_error=True),)


def test_pictures_become_markers() -> None:
    read = one(FIXTURES / "genai" / "picture.spans.jsonl")
    assert read.task and read.task.instruction == "What colour is the upper half?\n[image: image/png, 74 bytes]"


def test_tool_calling_with_a_sub_agent() -> None:
    read = one(FIXTURES / "openinference" / "tool-calling.spans.jsonl")
    assert read.task and read.task.instruction == "Which operator does ledger.py use, and does check.py pass?"
    assert len(read.steps) == 5
    assert [seen.call_id for seen in read.steps[0].observations] == ["call_01_0", "call_01_1"]
    assert read.steps[2].observations[0].is_error is True
    (reader,) = read.steps[3].subagents
    assert (reader.agent, len(reader.steps)) == ("reader", 2)
    assert reader.task and reader.task.instruction == "Count the lines of entries.log."
    assert read.usage == Usage(5000, output=250), "the sub-agent's own tokens are counted with it"


def test_a_code_agent() -> None:
    steps = one(FIXTURES / "openinference" / "code.spans.jsonl").steps
    assert steps[0].calls[0].arguments == {"command": "cat ledger.py"}
    assert steps[0].observations[0].text.startswith("Execution logs:")
    assert (steps[1].calls, steps[1].observations[0].is_error) == ((), True)
    assert "Calling tools" not in str(steps)


# -- traps


def test_nested_children_and_flat_names(tmp_path: Path) -> None:
    call = {
        "span_id": "b",
        "parent_span_id": "a",
        "trace_id": "t",
        "span_attributes": {
            "openinference.span.kind": "LLM",
            "llm.model_name": "m",
            "llm.token_count.prompt": "10",
            "llm.token_count.prompt_details.cache_read": "4",
            "llm.token_count.completion": "2",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Count.",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.contents.0.message_content.type": "text",
            "llm.output_messages.0.message.contents.0.message_content.text": "I count.",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "wc",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"l": 1}',
        },
    }
    root = {"span_id": "a", "trace_id": "t", "span_name": "main", "logs": [{"body": "SECRET"}], "child_spans": [call]}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"trace_id": "t", "spans": [root]}))
    read = one(path)
    assert read.task and read.task.instruction == "Count."
    (step,) = read.steps
    assert (step.message, step.calls, step.source.index) == ("I count.", (ToolCall("wc", {"l": 1}),), 1)
    assert step.usage == Usage(6, 4, None, 2)
    assert "SECRET" not in str(read)


def test_spans_in_the_order_of_their_ends(tmp_path: Path) -> None:
    """Children come before parents, and two traces mixed."""
    first = span("a", "LLM", "r", 1, **said("One.", ("user", "Count.")))
    other = {**span("x", "LLM", None, 2, **said("Other.", ("user", "Sing."))), "trace_id": "u"}
    second = span("b", "LLM", "r", 3, **said("Two.", ("user", "Count."), ("assistant", "One."), ("user", "More.")))
    t, u = many(tmp_path, second, other, first, span("r", "AGENT", None, 0, input__value="Count."))
    assert (t.id, [step.message for step in t.steps]) == ("t", ["One.", "Two."])
    assert t.steps[0].observations == (Observation("More.", origin="user", is_request=True),)
    assert u.task and (u.id, u.task.instruction) == ("u", "Sing.")


def test_one_call_recorded_twice_counts_once(tmp_path: Path) -> None:
    outer = span("a", "LLM", None, 0, **said("One.", ("user", "Count.")))
    inner = span("b", "LLM", "a", 1, **said("One.", ("user", "Count.")))
    assert len(of(tmp_path, inner, outer, outer).steps) == 1


def test_a_wrapper_without_output_lends_its_inner_call(tmp_path: Path) -> None:
    assert [s.message for s in of(tmp_path, span("a", "LLM"), span("b", "LLM", "a", 1, **said("One."))).steps] == [
        "One."
    ]


def test_failed_tries_and_judges_are_no_steps(tmp_path: Path) -> None:
    failed = {**span("f", "LLM", None, 0), "status": {"code": 2}}
    judge = span("j", "EVALUATOR", None, 3)
    verdict = span("v", "LLM", "j", 4, **said("Score: 0", ("user", "Judge it.")))
    read = of(tmp_path, failed, span("a", "LLM", None, 1, **said("One.", ("user", "Count."))), judge, verdict)
    assert [step.message for step in read.steps] == ["One."]
    assert "Score" not in str(read)


def test_tool_spans_answer_what_messages_do_not(tmp_path: Path) -> None:
    asked = span("a", "LLM", None, 0, **said("", ("user", "Count."), calls=("ls", "wc")))
    ls = span("b", "TOOL", None, 1, tool__name="ls", output__value="from the span")
    wc = span("c", "TOOL", None, 2, tool__name="wc", output__value="42")
    again = said("Done.", ("user", "Count."), ("assistant", ""), ("tool", "from the message"))
    again["llm__input_messages"][2]["message"]["tool_call_id"] = "ls-id"
    read = of(tmp_path, asked, ls, wc, span("d", "LLM", None, 3, **again))
    found = {seen.call_id: seen.text for seen in read.steps[0].observations}
    assert found == {"ls-id": "from the message", "wc-id": "42"}


def test_agents_one_after_the_other(tmp_path: Path) -> None:
    """A wrapper calls no model: its agents' steps follow each other; below one that does, they are sub-agents."""
    spans = [
        span("root", "AGENT", None, 0, input__value="Count."),
        span("one", "AGENT", "root", 1),
        span("a", "LLM", "one", 2, **said("One.", ("user", "Count."))),
        span("two", "AGENT", "root", 3),
        span("b", "LLM", "two", 4, **said("Two.", ("user", "Count."))),
        span("three", "AGENT", "two", 5, input__value="Help."),
        span("c", "LLM", "three", 6, **said("Three.", ("user", "Help."))),
    ]
    read = of(tmp_path, *reversed(spans))
    assert [(step.agent, step.message) for step in read.steps] == [("one", "One."), ("two", "Two.")]
    (helper,) = read.steps[1].subagents
    assert helper.task and (helper.agent, helper.task.instruction, len(helper.steps)) == ("three", "Help.", 1)


def test_older_genai_events(tmp_path: Path) -> None:
    calls = json.dumps([{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}])
    events = [
        {"name": "gen_ai.user.message", "attributes": {"content": "Count."}},
        {
            "name": "gen_ai.choice",
            "attributes": {"message": json.dumps({"content": "I look.", "tool_calls": json.loads(calls)})},
        },
    ]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 3, "gen_ai.response.model": "m"}
    raw = {"name": "chat m", "context": {"trace_id": "t", "span_id": "a"}, "attributes": attributes, "events": events}
    read = of(tmp_path, raw)
    assert read.task and read.task.instruction == "Count."
    assert (read.steps[0].message, read.steps[0].calls) == ("I look.", (ToolCall("ls", {}, "c1"),))
    assert (read.model, read.usage) == ("m", Usage(3))


def test_rings_and_deep_nesting_end(tmp_path: Path) -> None:
    ring = [span("a", "LLM", "b", 1, **said("One.")), span("b", "CHAIN", "c", 0), span("c", "CHAIN", "b", 0)]
    assert [step.message for step in of(tmp_path, *ring).steps] == ["One."]
    deep: list[dict[str, Any]] = []
    for n in range(400):
        deep.append(span(f"g{n}", "AGENT", f"g{n - 1}" if n else None, 2 * n))
        deep.append(span(f"l{n}", "LLM", f"g{n}", 2 * n + 1, **said(f"Step {n}.")))
    read = of(tmp_path, *deep)
    assert [step.message for step in read.steps] == ["Step 0."]


def test_damaged_spans_are_reported(tmp_path: Path) -> None:
    read = of(tmp_path, span("a", "LLM", None, 0, **said("One.", ("user", "Count."))), {"name": "x"}, 7)
    assert len(read.steps) == 1
    assert [(notice.kind, notice.source.line) for notice in read.notices] == [("skipped", 2), ("skipped", 3)]


def test_ordinary_spans_are_not_claimed(tmp_path: Path) -> None:
    http = {"name": "GET /", "trace_id": "t", "span_id": "a", "attributes": {"http.method": "GET"}}
    with pytest.raises(dense.DenseError, match="not a trace"):
        many(tmp_path, http, http)


def test_the_datasets_answers_do_not_pass(tmp_path: Path) -> None:
    first = span("a", "LLM", None, 0, **said("One.", ("user", "Count.")))
    before = of(tmp_path, first)
    first |= {"logs": [{"body": {"true_answer": "CHANGED"}}], "links": ["CHANGED"]}
    first["attributes"] |= {"ground_truth": "CHANGED", "eval.score": "CHANGED", "metadata": {"reward": "CHANGED"}}
    assert of(tmp_path, first) == before
