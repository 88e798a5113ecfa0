"""Rollouts and event streams of Codex: the recorded ones under fixtures/codex, and small ones made here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dense
from dense.errors import SkippedRecords
from dense.readers import Stream, read_streams
from dense.readers.formats.codex.reader import Codex

FIXTURES = Path(__file__).parents[1] / "fixtures" / "codex"
TASK = "The test in /app fails. Fix the price function, look at chart.png, and write what you did to NOTES.md."


def recorded(name: str) -> dense.Trajectory:
    (trajectory,) = dense.read(FIXTURES / name)
    return trajectory


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "T", "type": kind, "payload": payload}


def meta(id: str = "p", parent: str | None = None, path: str | None = None) -> dict[str, Any]:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "agent_path": path}}}
    return line(
        "session_meta", id=id, cli_version="1", **({"source": spawn, "parent_thread_id": parent} if parent else {})
    )


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return line("response_item", type=kind, **fields)


def message(text: str, role: str = "assistant") -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "output_text", "text": text}])


def call(id: str, name: str = "shell", arguments: str = "{}") -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=id)


def output(id: str, text: Any = "done") -> dict[str, Any]:
    return item("function_call_output", call_id=id, output=text)


def tokens(total: int, last: int, cached: int = 0) -> dict[str, Any]:
    def usage(count: int) -> dict[str, int]:
        return {"input_tokens": count, "cached_input_tokens": cached, "output_tokens": 5}

    return line(
        "event_msg", type="token_count", info={"total_token_usage": usage(total), "last_token_usage": usage(last)}
    )


ASKED = message("Go.", "user")


def rollout(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((made if isinstance(made, str) else json.dumps(made)) + "\n" for made in lines))
    return path


def only(tmp_path: Path, *lines: Any) -> dense.Trajectory:
    (trajectory,) = dense.read(rollout(tmp_path / "rollout-T-p.jsonl", *lines))
    return trajectory


def words(trajectory: dense.Trajectory) -> list[str]:
    return [step.message for step in trajectory.steps]


def test_a_recorded_rollout() -> None:
    read = recorded("fix")
    assert (read.format, read.agent, read.agent_version, read.model) == ("codex", "codex", "0.166.0", "scripted")
    assert read.id in read.source.path
    assert read.task == dense.Task(TASK)
    assert [len(step.calls) for step in read.steps] == [3, 1, 1, 2, 2, 0]
    assert read.usage == dense.Usage(4300, 1700, 0, 300)
    assert all(step.timestamp and step.source.line for step in read.steps)
    assert read.notices == ()


def test_one_response_over_many_lines_is_one_action() -> None:
    first = recorded("fix").steps[0]
    assert first.reasoning.startswith("The test is said to fail.")
    assert first.message == "I look at the code and the test at once."
    assert [c.id for c in first.calls] == [o.call_id for o in first.observations]
    assert first.usage == dense.Usage(1000, 0, 0, 50)


def test_a_cold_rollout_is_the_same() -> None:
    cold, warm = recorded("cold"), recorded("fix")
    assert cold.source.path.endswith(".jsonl.zst")

    def without_paths(read: dense.Trajectory) -> list[dense.Step]:
        return [msgspec.structs.replace(s, source=dense.Source("", s.source.line)) for s in read.steps]

    assert without_paths(cold) == without_paths(warm)
    assert (cold.id, cold.task, cold.usage) == (warm.id, warm.task, warm.usage)


def test_a_custom_tool_takes_plain_text() -> None:
    patch = recorded("fix").steps[2].calls[0]
    assert patch.name == "apply_patch"
    assert patch.arguments["input"].startswith("*** Begin Patch\n")


def test_a_custom_tools_text_that_looks_like_json_stays_text(tmp_path: Path) -> None:
    tool = item("custom_tool_call", name="t", input='{"a": 1}', call_id="c")
    assert only(tmp_path, meta(), ASKED, tool).steps[0].calls == (dense.ToolCall("t", {"input": '{"a": 1}'}, "c"),)


def test_an_image_becomes_a_marker() -> None:
    assert recorded("fix").steps[3].observations[1].text == "[image: image/png, 100 bytes]"


def test_exit_codes_of_a_recorded_rollout() -> None:
    codes = [[o.exit_code for o in step.observations] for step in recorded("fix").steps]
    assert codes == [[0, 0, 0], [1], [0], [0, None], [0, None], []]
    assert [[o.exit_code for o in step.observations] for step in recorded("event-messages").steps][1] == [1]


@pytest.mark.parametrize(
    ("text", "seen", "code"),
    [
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\nno", None, 2),
        ("Chunk ID: a\nProcess exited with code -1\nOutput:\n", None, -1),
        ("Wall time: 1\nOutput:\nExit code: 3\n", None, None),
        ("The log says:\nExit code: 3\n", None, None),
        ("Wall time: 4.6 seconds\naborted by user", None, None),
        ('{"output": "x", "metadata"', None, None),
        ('{"output":"no","metadata":{"exit_code":2}}', "no", 2),
        ('{"output":"no"}', "no", None),
        ('{"output":7}', '{"output":7}', None),
        ("Exit code: " + "9" * 6000 + "\nOutput:\n", None, None),
    ],
)
def test_exit_codes(tmp_path: Path, text: str, seen: str | None, code: int | None) -> None:
    read = only(tmp_path, meta(), ASKED, call("c"), output("c", text))
    assert read.steps[0].observations == (dense.Observation(text if seen is None else seen, "c", exit_code=code),)


def test_text_that_stands_twice_is_read_once() -> None:
    read = recorded("event-messages")
    assert words(read) == ["I look at both at once.", "", "I fix it.", "The test passes."]
    assert [step.reasoning for step in read.steps] == ["I first read the code.", "Now the test.", "", ""]
    assert read.task == dense.Task(TASK)
    assert read.usage == dense.Usage(4000, 0, None, 200)


def test_events_of_the_user_interface_are_no_steps(tmp_path: Path) -> None:
    events = [
        line("event_msg", type="user_message", message="Go."),
        line("event_msg", type="agent_message", message="A"),
    ]
    events.append(line("event_msg", type="agent_reasoning", text="Hm."))
    read = only(tmp_path, meta(), ASKED, *events, message("A"), *events)
    assert (words(read), read.task, read.steps[0].observations) == (["A"], dense.Task("Go."), ())


def test_items_without_envelopes() -> None:
    read = recorded("no-envelope")
    assert read.id in read.source.path
    assert read.task == dense.Task(TASK)
    assert [step.source.line for step in read.steps] == [6, 14, 19, 24]
    assert words(read) == words(recorded("event-messages"))
    assert [c.id for c in read.steps[0].calls] == [o.call_id for o in read.steps[0].observations]
    assert [[o.exit_code for o in step.observations] for step in read.steps] == [[0, 0], [1], [0], []]
    assert read.usage is None


def test_items_without_envelopes_and_without_marks_end_at_outputs(tmp_path: Path) -> None:
    items = [made["payload"] for made in (ASKED, call("a"), output("a"), call("b"), output("b"), message("Done."))]
    read = only(tmp_path, {"id": "x", "timestamp": "T", "instructions": None}, *items)
    assert (read.id, [len(step.calls) for step in read.steps]) == ("x", [1, 1, 0])


def test_results_are_linked_by_id_in_whichever_order(tmp_path: Path) -> None:
    read = only(tmp_path, meta(), ASKED, call("a"), call("b"), output("b"), output("a"), message("Done."))
    assert [[o.call_id for o in step.observations] for step in read.steps] == [["b", "a"], []]


def test_a_count_of_tokens_ends_an_action_that_has_no_output(tmp_path: Path) -> None:
    read = only(tmp_path, meta(), ASKED, message("One."), tokens(10, 10), message("Two."), tokens(30, 20, cached=4))
    assert words(read) == ["One.", "Two."]
    assert [step.usage for step in read.steps] == [dense.Usage(10, 0, None, 5), dense.Usage(16, 4, None, 5)]
    assert read.usage == dense.Usage(26, 4, None, 5)


def test_a_count_that_is_reported_twice_counts_once(tmp_path: Path) -> None:
    lines = [call("a"), tokens(10, 10), output("a"), tokens(10, 10), message("Two."), tokens(30, 20)]
    read = only(tmp_path, meta(), ASKED, *lines)
    assert [step.usage and step.usage.input for step in read.steps] == [10, 20]
    assert read.usage == dense.Usage(30, 0, None, 5)


def test_the_summary_of_a_compaction_is_no_action() -> None:
    read = recorded("compacted")
    assert words(read) == ["I count.", "", "Now the lines.", "There are 4 files, and prices.py has 6 lines."]
    assert [len(step.observations) for step in read.steps] == [1, 1, 1, 0]


def test_a_last_word_before_a_compaction_is_kept(tmp_path: Path) -> None:
    read = only(tmp_path, meta(), ASKED, message("One."), line("compacted", message="A summary."), message("Two."))
    assert "One." in words(read)[0]


def test_a_compaction_repeats_nothing(tmp_path: Path) -> None:
    history = [{"type": "message", "role": "user", "content": "Go."}, {"type": "message", "role": "assistant"}]
    compacted = line("compacted", message="Before. Sum.", replacement_history=history)
    read = only(tmp_path, meta(), ASKED, call("a"), output("a"), message("Sum."), compacted, message("Two."))
    assert words(read) == ["", "Two."]


def test_an_interrupted_rollout() -> None:
    (step,) = recorded("interrupted").steps
    assert [o.text.endswith("aborted by user") for o in step.observations] == [True]


def test_context_is_no_task_and_no_observation(tmp_path: Path) -> None:
    context = [message("<environment_context>\n<cwd>/app</cwd>\n</environment_context>", "user")]
    context += [message("# AGENTS.md instructions for /app\n\nBe brief.", "user"), message("Rules.", "developer")]
    read = only(
        tmp_path, meta(), *context, ASKED, message("One."), *context, message("And two?", "user"), message("Two.")
    )
    assert read.task == dense.Task("Go.")
    assert [[(o.origin, o.text) for o in step.observations] for step in read.steps] == [[("user", "And two?")], []]


def test_other_calls(tmp_path: Path) -> None:
    calls = [
        item("local_shell_call", call_id="a", action={"type": "exec", "command": ["ls"]}),
        item("web_search_call", id="b", action={"type": "search", "query": "q"}),
        item("tool_search_call", call_id="c", arguments={"query": "q"}),
        item("image_generation_call", id="d", revised_prompt="a cat", result="BASE64"),
        item("function_call", call_id="e", name="read", namespace="mcp__files", arguments='{"path": "a"}'),
        item("function_call", call_id="f", name="shell", arguments="not json"),
    ]
    (step,) = only(tmp_path, meta(), ASKED, *calls).steps
    assert step.calls == (
        dense.ToolCall("local_shell", {"type": "exec", "command": ["ls"]}, "a"),
        dense.ToolCall("web_search", {"type": "search", "query": "q"}, "b"),
        dense.ToolCall("tool_search", {"arguments": {"query": "q"}}, "c"),
        dense.ToolCall("image_generation", {"revised_prompt": "a cat"}, "d"),
        dense.ToolCall("mcp__files.read", {"path": "a"}, "e"),
        dense.ToolCall("shell", {"input": "not json"}, "f"),
    )


def test_a_recorded_sub_agent_nests_in_the_step_that_started_it() -> None:
    read = recorded("sub-agent")
    assert (len(read.steps), [len(step.subagents) for step in read.steps]) == (3, [1, 0, 0])
    (child,) = read.steps[0].subagents
    assert (child.task, len(child.steps)) == (dense.Task("Check total in /app."), 2)
    assert child.source.path != read.source.path
    assert read.usage == dense.Usage(3000, 0, 0, 150)
    assert [o.origin for o in read.steps[1].observations] == ["tool", "system"]


def spawn(id: str, task: str) -> dict[str, Any]:
    return call(id, "spawn_agent", json.dumps({"message": task}))


def child(tmp_path: Path, order: int, id: str, path: str | None = None, parent: str = "p") -> Path:
    lines = [meta(id, parent, path), message(f"I am {id}.")]
    return rollout(tmp_path / f"rollout-T{order}-{id}.jsonl", *lines)


def nested(read: dense.Trajectory) -> list[list[str]]:
    return [[agent.id for agent in step.subagents] for step in read.steps]


def test_a_sub_agent_is_the_one_that_the_output_names(tmp_path: Path) -> None:
    child(tmp_path, 1, "c1", "/lead/check")
    child(tmp_path, 2, "c2", "/lead/check2")
    child(tmp_path, 3, "c3")
    lines = [
        spawn("a", "A"),
        output("a", '{"task_name":"/lead/check2"}'),
        spawn("b", "B"),
        output("b", '{"agent_id":"c3"}'),
    ]
    read = only(tmp_path, meta(), ASKED, *lines, spawn("c", "C"), output("c", '{"task_name":"/lead/check"}'))
    assert nested(read) == [["c2"], ["c3"], ["c1"]]
    assert [agent.task for step in read.steps for agent in step.subagents] == [dense.Task(t) for t in "ABC"]


def test_a_call_that_started_no_sub_agent_takes_none(tmp_path: Path) -> None:
    child(tmp_path, 1, "c1")
    lines = [spawn("a", "A"), output("a", "too many agents"), spawn("b", "B"), output("b", '{"agent_id":"c1"}')]
    assert nested(only(tmp_path, meta(), ASKED, *lines)) == [[], ["c1"]]


def test_a_call_without_an_output_has_the_next_sub_agent_in_time(tmp_path: Path) -> None:
    child(tmp_path, 1, "c1")
    child(tmp_path, 2, "c2")
    assert nested(only(tmp_path, meta(), ASKED, spawn("a", "A"), spawn("b", "B"))) == [["c1", "c2"]]


def test_a_sub_agent_that_no_call_is_linked_to_is_reported_and_kept(tmp_path: Path) -> None:
    child(tmp_path, 1, "c1")
    read = only(tmp_path, meta(), ASKED, call("a"), output("a"), message("Done."))
    assert nested(read) == [[], ["c1"]]
    assert [n.text for n in read.notices] == ["sub-agent c1 is linked to no call"]


def test_sub_agents_of_sub_agents_nest(tmp_path: Path) -> None:
    rollout(tmp_path / "rollout-T1-c1.jsonl", meta("c1", "p"), spawn("x", "X"), output("x", '{"agent_id":"c2"}'))
    child(tmp_path, 2, "c2", parent="c1")
    read = only(tmp_path, meta(), ASKED, spawn("a", "A"), output("a", '{"agent_id":"c1"}'))
    assert nested(read.steps[0].subagents[0]) == [["c2"]]


def test_rollouts_that_name_each_other_as_parents_end(tmp_path: Path) -> None:
    rollout(tmp_path / "rollout-T1-c1.jsonl", meta("c1", "p"), *[spawn("x", "X")] * 3)
    path = rollout(tmp_path / "rollout-T0-p.jsonl", meta("p", "c1"), ASKED, *[spawn("a", "A")] * 3)
    (read,) = dense.read(path)
    depth, level = 0, [read]
    while level := [agent for one in level for step in one.steps for agent in step.subagents]:
        assert len(level) == 1
        depth += 1
    assert depth == 4


@pytest.mark.parametrize("content", [b"\x28\xb5\x2f\xfdbroken", b"\x1f\x8bbroken"])
def test_a_damaged_rollout_beside_is_no_harm(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rollout-T1-c1.jsonl.zst").write_bytes(content)
    read = only(tmp_path, meta(), ASKED, spawn("a", "A"))
    assert (nested(read), read.notices) == ([[]], ())


def test_a_sub_agent_whose_rollout_is_damaged_later_costs_only_itself(tmp_path: Path) -> None:
    import zstandard

    lines = [meta("c1", "p"), *(message("x" * 999 + str(number)) for number in range(3000))]
    packed = zstandard.ZstdCompressor(level=1).compress("".join(json.dumps(made) + "\n" for made in lines).encode())
    (tmp_path / "rollout-T1-c1.jsonl.zst").write_bytes(packed[: len(packed) // 2] + b"\xff" * 2000)
    read = only(tmp_path, meta(), ASKED, spawn("a", "A"), output("a", '{"agent_id":"c1"}'), message("Done."))
    assert words(read) == ["", "Done."]
    reported = [notice for one in (read, *read.steps[0].subagents) for notice in one.notices]
    assert {(n.kind, Path(n.source.path).name) for n in reported} == {("skipped", "rollout-T1-c1.jsonl.zst")}


def test_a_sub_agent_without_a_step_is_reported(tmp_path: Path) -> None:
    rollout(tmp_path / "rollout-T1-c1.jsonl", meta("c1", "p"))
    read = only(tmp_path, meta(), ASKED, spawn("a", "A"))
    assert (nested(read), [n.text for n in read.notices]) == ([[]], ["no step in the sub-agent's rollout"])


def test_strict_reaches_into_sub_agents(tmp_path: Path) -> None:
    rollout(tmp_path / "rollout-T1-c1.jsonl", meta("c1", "p"), message("One."), '{"cut')
    path = rollout(tmp_path / "rollout-T0-p.jsonl", meta(), ASKED, spawn("a", "A"))
    with pytest.raises(SkippedRecords, match=r"c1\.jsonl:3"):
        list(dense.read(path, strict=True))


def test_a_sub_agent_by_itself_is_a_trajectory(tmp_path: Path) -> None:
    path = child(tmp_path, 1, "c1")
    only(tmp_path, meta(), ASKED, spawn("a", "A"))
    (read,) = dense.read(path)
    assert (read.id, words(read)) == ("c1", ["I am c1."])


def test_codex_exec_json() -> None:
    read = recorded("exec-json")
    assert [[(c.name, c.id) for c in step.calls] for step in read.steps] == [
        [("shell", "item_0")],
        [("shell", "item_1")],
        [],
    ]
    assert [[o.exit_code for o in step.observations] for step in read.steps] == [[1], [0], []]
    assert (read.steps[-1].message, read.usage, read.task) == ("Listed.", dense.Usage(2000, 0, 0, 100), None)


THREAD = {"type": "thread.started", "thread_id": "t1"}


def completed(kind: str, id: str = "i", **fields: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": id, "type": kind} | fields}


def test_what_was_said_and_thought_belongs_to_the_call_behind_it(tmp_path: Path) -> None:
    ran = completed("command_execution", command="ls", aggregated_output="a", exit_code=0)
    lines = [completed("reasoning", text="Hm."), completed("agent_message", text="I look."), ran, ran]
    first, second = only(tmp_path, THREAD, *lines).steps
    assert (first.reasoning, first.message, len(first.calls)) == ("Hm.", "I look.", 1)
    assert (second.message, len(second.calls)) == ("", 1)


def test_other_items_of_exec_json(tmp_path: Path) -> None:
    called = completed("mcp_tool_call", "m", server="files", tool="read", arguments={"a": 1})
    called["item"]["result"] = {"content": [{"type": "text", "text": "text"}]}
    changed = completed("file_change", "f", changes=[{"path": "a", "kind": "add"}], status="completed")
    listed = completed("todo_list", "l", items=[])
    failed = {"type": "turn.failed", "error": {"message": "limit"}}
    read = only(tmp_path, THREAD, called, changed, listed, {"type": "error", "message": "again"}, failed)
    assert [step.calls[0] for step in read.steps] == [
        dense.ToolCall("mcp__files__read", {"a": 1}, "m"),
        dense.ToolCall("file_change", {"changes": [{"path": "a", "kind": "add"}]}, "f"),
    ]
    assert [[(o.text, o.origin) for o in step.observations] for step in read.steps] == [
        [("text", "tool")],
        [("completed", "tool"), ("limit", "system")],
    ]
    assert [n.kind for n in read.notices if n.kind == "skipped"] == []


def test_a_call_that_was_running_at_the_end_is_the_last_step(tmp_path: Path) -> None:
    running = {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": "sleep 60"}}
    read = only(tmp_path, THREAD, completed("agent_message", text="I wait."), running)
    assert [(s.message, len(s.calls), len(s.observations)) for s in read.steps] == [("I wait.", 1, 0)]


def test_damage_in_exec_json_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    strange = [{"type": "item.completed", "item": None}, {"type": "hologram"}, [1], "{", {"type": ["odd"]}]
    read = only(tmp_path, THREAD, *strange, completed("agent_message", text="One."))
    assert words(read) == ["One."]
    assert sorted(n.source.line or 0 for n in read.notices if n.kind == "skipped") == [2, 3, 4, 5, 6]


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": "0", "msg": {"type": kind} | fields}


def test_events_of_the_older_protocol(tmp_path: Path) -> None:
    lines = [
        event("session_configured", session_id="s", model="m"),
        event("user_message", message="Go."),
        event("agent_reasoning", text="Hm."),
        event("agent_message_delta", delta="I l"),
        event("agent_message", message="I look."),
        event("exec_command_begin", call_id="a", command=["ls"], cwd="/app"),
        event("exec_command_end", call_id="a", stdout="out", stderr="err", exit_code=2),
        event("patch_apply_begin", call_id="b", changes={"a.py": {"add": {"content": "x"}}}),
        event("patch_apply_end", call_id="b", stdout="Success.", stderr="", success=True),
        event("mcp_tool_call_begin", call_id="c", invocation={"server": "s", "tool": "t", "arguments": {"q": 1}}),
        event("mcp_tool_call_end", call_id="c", result={"Ok": {"content": [{"type": "text", "text": "found"}]}}),
        event("token_count", info={"total_token_usage": {"input_tokens": 9, "cached_input_tokens": 4}}),
    ]
    read = only(tmp_path, *lines)
    assert (read.id, read.model, read.task, read.usage) == ("s", "m", dense.Task("Go."), dense.Usage(5, 4))
    assert (read.steps[0].reasoning, read.steps[0].message) == ("Hm.", "I look.")
    assert [step.calls[0] for step in read.steps] == [
        dense.ToolCall("shell", {"command": ["ls"], "cwd": "/app"}, "a"),
        dense.ToolCall("apply_patch", {"a.py": {"add": {"content": "x"}}}, "b"),
        dense.ToolCall("mcp__s__t", {"q": 1}, "c"),
    ]
    assert [[(o.call_id, o.text, o.exit_code) for o in step.observations] for step in read.steps] == [
        [("a", "out\nerr", 2)],
        [("b", "Success.", None)],
        [("c", "found", None)],
    ]


def test_a_log_of_the_user_interface(tmp_path: Path) -> None:
    lines: list[Any] = [{"dir": "meta", "kind": "session_start", "model": "m"}, {"dir": "to_tui", "kind": "key_event"}]
    lines.append({"dir": "to_tui", "kind": "codex_event", "payload": event("agent_message", message="One.")})
    read = only(tmp_path, *lines)
    assert (read.model, words(read)) == ("m", ["One."])
    assert [n.text for n in read.notices] == ["no task in the trace; give it with --task"]


def test_a_strange_first_line_does_not_hide_of_which_kind_a_file_is(tmp_path: Path) -> None:
    said = completed("agent_message", text="One.")
    assert words(only(tmp_path, {"type": "hologram"}, THREAD, said)) == ["One."]
    assert words(only(tmp_path, {"type": "hologram"}, meta(), ASKED, message("One."))) == ["One."]


def test_damage_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    strange = [output("lost"), line("hologram"), item("hologram"), message("x", "alien"), [1], "{", item("message")]
    read = only(tmp_path, meta(), ASKED, *strange, message("One."), line("response_item"))
    assert words(read) == ["One."]
    assert sorted(n.source.line or 0 for n in read.notices) == [3, 4, 5, 6, 7, 8, 9, 11]
    assert {n.kind for n in read.notices} == {"skipped"}


def test_a_rollout_is_read_lazily(tmp_path: Path) -> None:
    turns = [made for number in range(300) for made in (call(f"c{number}"), output(f"c{number}"))]
    (stream,) = read_streams(rollout(tmp_path / "rollout-T-p.jsonl", meta(), ASKED, *turns, '{"cut'))
    assert isinstance(stream, Stream)
    assert stream.task == dense.Task("Go.")
    steps: Iterator[dense.Step] = stream.counted()
    assert next(steps).source.line == 3
    assert stream.notices.items == []  # the damage at the end has not been reached
    assert sum(1 for _ in steps) == 299
    assert [n.source.line for n in stream.notices.items] == [603]


def test_another_folders_sub_agents_are_not_taken(tmp_path: Path) -> None:
    family = next((FIXTURES / "sub-agent").glob("sessions/*/*/*"))
    for path in family.iterdir():
        folder = tmp_path / path.stem[-4:]
        folder.mkdir()
        shutil.copyfile(path, folder / path.name)
    assert [sum(map(len, nested(read))) for read in dense.read(tmp_path)] == [0, 0]


@pytest.mark.parametrize(
    ("value", "claimed"),
    [
        (meta(), True),
        (message("x"), True),
        (call("c")["payload"], True),
        ({"id": "x", "timestamp": "T", "instructions": None}, True),
        ({"record_type": "state"}, True),
        (THREAD, True),
        (completed("agent_message"), True),
        (event("agent_message"), True),
        ({"type": "message", "role": "user", "content": "Go."}, False),
        ({"type": "item.completed"}, False),
        ({"type": "session_meta", "payload": "x"}, False),
        ({"type": "function_call", "name": "x"}, False),
        ({"type": ["odd"], "payload": {}}, False),
        (None, False),
    ],
)
def test_claims(value: Any, claimed: bool) -> None:
    assert Codex().claims([value]) is claimed
