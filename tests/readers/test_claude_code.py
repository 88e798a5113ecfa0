"""Sessions of Claude Code: the recorded ones under fixtures/claude-code, and small ones made here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cpu_time import assert_within

import dense
from dense.errors import SkippedRecords
from dense.readers import Stream, read_streams
from dense.readers.formats.claude_code import ClaudeCode

FIXTURES = Path(__file__).parents[1] / "fixtures" / "claude-code"
MARKS = {"parentUuid": None, "isSidechain": False, "sessionId": "s1", "version": "2.1.0", "timestamp": "T"}


def recorded(start: str) -> Path:
    (path,) = (FIXTURES / "projects" / "-app").glob(f"{start}*.jsonl")
    return path


def heard(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": "u", "message": {"role": "user", "content": content}} | MARKS | more


def said(id: str, *parts: Any, usage: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A line of the response of this ID; a text stands for a part of text."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    message = {"id": id, "role": "assistant", "model": "m", "content": content, "usage": usage or {}}
    return {"type": "assistant", "uuid": f"u-{id}", "message": message} | MARKS | more


def call(id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def result(id: str, content: Any = "done", *, line: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return heard([{"type": "tool_result", "tool_use_id": id, "content": content} | more], **(line or {}))


def session(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return path


def only(tmp_path: Path, *records: Any) -> dense.Trajectory:
    (trajectory,) = dense.read(session(tmp_path / "s1.jsonl", *records))
    return trajectory


def words(trajectory: dense.Trajectory) -> list[str]:
    return [step.message for step in trajectory.steps]


def test_a_recorded_session() -> None:
    path = recorded("1111")
    (read,) = dense.read(path)
    assert (read.format, read.id, read.agent, read.model) == ("claude-code", path.stem, "claude-code", "scripted")
    assert read.agent_version == "2.1.325"
    assert read.task == dense.Task(
        "The test in /app fails. Fix the price function, look at chart.png, and write what you did to NOTES.md."
    )
    assert [len(step.calls) for step in read.steps] == [3, 1, 1, 1, 2, 1, 1, 1, 1, 0]
    assert all(step.timestamp and step.source.line for step in read.steps)
    assert read.steps[-1].message.startswith("The test passes")
    assert read.notices == ()


def test_one_response_over_many_lines_is_one_action_and_its_usage_counts_once() -> None:
    (read,) = dense.read(recorded("1111"))
    first = read.steps[0]
    assert first.reasoning.startswith("The test is said to fail.")
    assert first.message == "I look at the folder, the code and the test at once."
    assert first.usage == dense.Usage(1000, 0, 0, 50)
    assert read.usage == dense.Usage(8300, 1700, 0, 500)


def test_the_usage_of_a_response_is_that_of_its_last_line(tmp_path: Path) -> None:
    early, late = ({"input_tokens": 5, "output_tokens": n, "cache_read_input_tokens": 7} for n in (1, 9))
    read = only(tmp_path, heard("Go."), said("m1", "a", usage=early), said("m1", "b", usage=late), said("m1", "c"))
    assert [step.usage for step in read.steps] == [dense.Usage(5, 7, None, 9)]


def test_lines_of_a_response_between_results_stay_one_action(tmp_path: Path) -> None:
    lines = [said("m1", call("a")), result("a"), said("m1", call("b")), result("b"), said("m2", "Done.")]
    read = only(tmp_path, heard("Go."), *lines)
    assert [[c.id for c in step.calls] for step in read.steps] == [["a", "b"], []]
    assert [o.call_id for o in read.steps[0].observations] == ["a", "b"]


def test_results_are_linked_by_id_in_whichever_order() -> None:
    (read,) = dense.read(recorded("1111"))
    first = read.steps[0]
    calls, results = [c.id for c in first.calls], [o.call_id for o in first.observations]
    assert sorted(calls, key=str) == sorted(results, key=str)
    assert calls != results


def test_a_failing_command_tells_its_exit_code() -> None:
    (read,) = dense.read(recorded("1111"))
    (failed,) = read.steps[1].observations
    assert (failed.is_error, failed.exit_code) == (True, 1)


@pytest.mark.parametrize(
    ("text", "is_error", "code"),
    [
        ("Exit code 2\nno", True, 2),
        ("Error: Exit code 127", True, 127),
        ("Exit code 2", False, None),
        ("It said: Exit code 2", True, None),
        ("Exit code " + "9" * 6000, True, None),
    ],
)
def test_exit_codes(tmp_path: Path, text: str, is_error: bool, code: int | None) -> None:
    read = only(tmp_path, heard("Go."), said("m1", call("a")), result("a", text, is_error=is_error))
    assert [o.exit_code for o in read.steps[0].observations] == [code]


def test_an_image_becomes_a_marker() -> None:
    (read,) = dense.read(recorded("1111"))
    assert read.steps[4].observations[1].text == "[image: image/png, 100 bytes]"


def test_a_sub_agent_nests_in_the_step_that_started_it() -> None:
    (read,) = dense.read(recorded("1111"))
    assert [len(step.subagents) for step in read.steps] == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    (child,) = read.steps[6].subagents
    assert Path(child.source.path).name == f"agent-{child.id}.jsonl"
    assert child.task == dense.Task("Check total in /app.")
    assert words(child) == ["", "total([8.0], 0.5) gives 4.0: the fix holds."]


def test_a_sub_agent_by_itself_is_a_trajectory() -> None:
    (path,) = FIXTURES.glob("projects/-app/*/subagents/agent-*.jsonl")
    (read,) = dense.read(path)
    assert (read.id, len(read.steps)) == (path.stem.removeprefix("agent-"), 2)


def test_a_long_output_is_taken_from_its_file() -> None:
    (read,) = dense.read(recorded("1111"))
    (seen,) = read.steps[7].observations
    assert seen.text.rstrip().endswith("price line 000200 of the long run")
    assert "persisted-output" not in seen.text


def test_without_the_file_of_a_long_output_its_preview_stays(tmp_path: Path) -> None:
    path = tmp_path / recorded("1111").name
    shutil.copyfile(recorded("1111"), path)
    (read,) = dense.read(path)
    assert read.steps[7].observations[0].text.startswith("<persisted-output>")
    assert [(n.kind, n.source.line) for n in read.notices] == [("note", 56)]


def kept(tmp_path: Path, name: str, *parts: dict[str, Any]) -> dense.Trajectory:
    """A session with a line that says where its output is kept."""
    parts = parts or ({"type": "tool_result", "tool_use_id": "a", "content": "preview"},)
    return only(
        tmp_path, heard("Go."), said("m1", call("a")), heard(parts, toolUseResult={"persistedOutputPath": name})
    )


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd",
        "/etc/passwd",
        "..",
        "../..",
        "/",
        "../secret.txt",
        "..\\secret.txt",
        "linked.txt",
        "a\0b",
        "x" * 5000,
    ],
)
def test_a_kept_output_is_never_sought_outside(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "s1" / "tool-results"
    folder.mkdir(parents=True)
    secret = tmp_path / "s1" / "secret.txt"
    secret.write_text("secret")
    (folder / "linked.txt").symlink_to(secret)
    read = kept(tmp_path, name)
    assert [o.text for o in read.steps[0].observations] == ["preview"]
    assert [notice.kind for notice in read.notices] == ["note"]
    assert len(read.notices[0].text) < 200


def test_only_the_name_of_a_kept_output_counts(tmp_path: Path) -> None:
    for place in ("/home/someone/.claude/projects/-app/s1/tool-results/a.txt", "C:\\Users\\x\\tool-results\\a.txt"):
        session(tmp_path / "s1" / "tool-results" / "a.txt", "whole")
        assert [o.text for o in kept(tmp_path, place).steps[0].observations] == ["whole\n"]


def test_a_kept_output_of_a_line_with_two_results_replaces_neither(tmp_path: Path) -> None:
    session(tmp_path / "s1" / "tool-results" / "a.txt", "whole")
    parts = [{"type": "tool_result", "tool_use_id": id, "content": id} for id in "ab"]
    assert [o.text for o in kept(tmp_path, "a.txt", *parts).steps[0].observations] == ["a", "b"]


def test_a_kept_output_that_is_too_large_stays_a_preview(tmp_path: Path) -> None:
    path = tmp_path / "s1" / "tool-results" / "a.txt"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate((16 << 20) + 1)
    read = kept(tmp_path, "a.txt")
    assert [o.text for o in read.steps[0].observations] == ["preview"]
    assert "too large" in read.notices[0].text


def test_a_sub_agent_finds_its_long_outputs_in_the_folder_of_the_session(tmp_path: Path) -> None:
    session(tmp_path / "s1" / "tool-results" / "a.txt", "whole")
    side: dict[str, Any] = {"isSidechain": True, "agentId": "x"}
    long = result("b", "preview", line=side | {"toolUseResult": {"persistedOutputPath": "a.txt"}})
    session(
        tmp_path / "s1" / "subagents" / "agent-x.jsonl", heard("Look.", **side), said("m2", call("b"), **side), long
    )
    read = only(tmp_path, heard("Go."), said("m1", call("a")), result("a", line={"toolUseResult": {"agentId": "x"}}))
    (child,) = read.steps[0].subagents
    assert [o.text for o in child.steps[0].observations] == ["whole\n"]


def test_a_compaction_takes_nothing_away_and_its_summary_is_left_out() -> None:
    (read,) = dense.read(recorded("2222"))
    assert read.task == dense.Task("How many files are there?")
    assert len(read.steps) == 4
    assert [o.text for o in read.steps[1].observations] == ["/compact", "And what do the notes tell?"]


def test_an_interrupted_session() -> None:
    (read,) = dense.read(recorded("3333"))
    (step,) = read.steps
    assert [(o.origin, o.is_error) for o in step.observations] == [("tool", True), ("user", None)]
    assert step.observations[1].text == "[Request interrupted by user for tool use]"


def test_a_killed_session_ends_with_a_call_without_result() -> None:
    (read,) = dense.read(recorded("4444"))
    assert (len(read.steps[-1].calls), read.steps[-1].observations) == (1, ())


def test_stream_json() -> None:
    (read,) = dense.read(FIXTURES / "stream-json" / "looks.jsonl")
    assert (read.agent_version, read.model, len(read.steps), read.task) == ("2.1.325", "scripted", 2, None)
    assert [c.id for c in read.steps[0].calls] == [o.call_id for o in read.steps[0].observations]
    assert read.usage is not None
    assert read.usage.cost_usd == 0.01


def test_sub_agents_within_stream_json(tmp_path: Path) -> None:
    def of(id: str | None) -> dict[str, Any]:
        return {"parent_tool_use_id": id, "session_id": "s1", "uuid": "u"}

    def line(made: dict[str, Any], parent: str | None) -> dict[str, Any]:
        return {"type": made["type"], "message": made["message"]} | of(parent)

    init = {"type": "system", "subtype": "init", "session_id": "s1", "model": "m", "claude_code_version": "2.1.0"}
    lines = [line(said("m1", call("a", "Task"), call("b", "Task")), None)]
    lines += [line(heard("Look at A."), "a"), line(heard("Look at B."), "b")]
    lines += [line(said("m2", call("x")), "a"), line(said("m3", "B."), "b"), line(result("x"), "a")]
    lines += [
        line(said("m4", "A."), "a"),
        line(result("a"), None),
        line(result("b"), None),
        line(said("m5", "Done."), None),
    ]
    end = {"type": "result", "subtype": "success", "total_cost_usd": 0.5, "session_id": "s1"}
    read = only(tmp_path, init, *lines, end)
    assert words(read) == ["", "Done."]
    first, second = read.steps[0].subagents
    assert (first.task, words(first)) == (dense.Task("Look at A."), ["", "A."])
    assert (second.task, words(second)) == (dense.Task("Look at B."), ["B."])
    assert first.id != second.id
    assert read.usage == dense.Usage(cost_usd=0.5)


def test_a_sub_agent_within_the_file_of_the_session() -> None:
    (path,) = FIXTURES.glob("one-file/projects/-app/*.jsonl")
    (read,) = dense.read(path)
    assert (len(read.steps), read.task) == (2, dense.Task("Have the test run."))
    (child,) = read.steps[0].subagents
    assert (len(child.steps), child.task) == (2, dense.Task("Run the test in /app."))
    assert child.source.line == 5
    assert read.usage == dense.Usage(2000, 0, 0, 100)


def test_two_sub_agents_within_the_file_are_distinguished_by_their_parents(tmp_path: Path) -> None:
    def side(made: dict[str, Any], uuid: str, parent: str | None) -> dict[str, Any]:
        return made | {"isSidechain": True, "uuid": uuid, "parentUuid": parent}

    lines = [side(heard("A?"), "a1", None), side(heard("B?"), "b1", None), side(said("m2", "A."), "a2", "a1")]
    lines += [side(said("m3", "B."), "b2", "b1"), side(said("m4", "A again."), "a3", "a2")]
    read = only(tmp_path, heard("Go."), said("m1", call("a"), call("b")), *lines, result("a"), said("m5", "Done."))
    assert [(child.task, words(child)) for child in read.steps[0].subagents] == [
        (dense.Task("A?"), ["A.", "A again."]),
        (dense.Task("B?"), ["B."]),
    ]


def test_sidechain_lines_before_the_session_itself_do_not_swallow_it(tmp_path: Path) -> None:
    side: dict[str, Any] = {"isSidechain": True, "uuid": "w"}
    read = only(tmp_path, heard("Warmup", **side), said("m0", "Ready.", **side), heard("Go."), said("m1", "One."))
    assert (read.id, read.task, words(read)) == ("s1", dense.Task("Go."), ["One."])
    assert [words(child) for child in read.steps[0].subagents] == [["Ready."]]


def family(tmp_path: Path, **children: list[Any]) -> dense.Trajectory:
    """A session whose only call was answered by agent x, and files of agents beside it."""
    for name, lines in children.items():
        session(tmp_path / f"agent-{name}.jsonl", *lines)
    answered = result("a", line={"toolUseResult": {"agentId": "x"}})
    return only(tmp_path, heard("Go."), said("m1", call("a", "Task")), answered, said("m9", "Done."))


def agent(name: str, *further: Any) -> list[Any]:
    side: dict[str, Any] = {"isSidechain": True, "agentId": name}
    return [heard("Look.", **side), said(f"m-{name}", "Looked.", call("b"), **side), *(f | side for f in further)]


def test_older_sub_agents_stand_beside_their_session(tmp_path: Path) -> None:
    read = family(tmp_path, x=agent("x"))
    (child,) = read.steps[0].subagents
    assert (child.id, words(child)) == ("x", ["Looked."])


@pytest.mark.parametrize("folder", [".", "s1/subagents"])
def test_sub_agents_that_refer_to_each_other_are_read_once(tmp_path: Path, folder: str) -> None:
    others = [result("b", line={"toolUseResult": {"agentId": name}}) for name in "xyzxyzxyzxyz"]
    for name in "xyz":
        session(tmp_path / folder / f"agent-{name}.jsonl", *agent(name, *others))
    read = family(tmp_path)
    ids: list[str] = []
    waiting = list(read.steps[0].subagents)
    while waiting:
        child = waiting.pop()
        ids.append(child.id)
        waiting += [inner for step in child.steps for inner in step.subagents]
    assert sorted(ids) == ["x", "y", "z"]


def test_a_sub_agent_that_refers_to_itself_is_read_once_also_by_itself(tmp_path: Path) -> None:
    circle = result("b", line={"toolUseResult": {"agentId": "x"}})
    (read,) = dense.read(session(tmp_path / "agent-x.jsonl", *agent("x", circle)))
    assert (read.id, read.steps[0].subagents) == ("x", ())


@pytest.mark.parametrize("name", ["../secret", "/secret", "..", "x/../../secret", "*", "a\0b", "x" * 5000])
def test_the_id_of_an_agent_is_no_path(tmp_path: Path, name: str) -> None:
    session(tmp_path / "agent-secret.jsonl", *agent("secret"))
    session(tmp_path / "secret.jsonl", *agent("secret"))
    folder = tmp_path / "agent-x"
    folder.mkdir()
    answered = result("a", line={"toolUseResult": {"agentId": name}})
    read = only(tmp_path / "inner", heard("Go."), said("m1", call("a")), answered)
    assert read.steps[0].subagents == ()
    read = only(tmp_path, heard("Go."), said("m1", call("a")), answered)
    assert read.steps[0].subagents == ()


def test_a_sub_agent_is_linked_by_the_note_beside_its_file(tmp_path: Path) -> None:
    path = session(tmp_path / "s1" / "subagents" / "agent-x.jsonl", *agent("x"))
    path.with_suffix(".meta.json").write_text('{"toolUseId": "a"}')
    read = only(tmp_path, heard("Go."), said("m1", call("a")), said("m2", "Killed before a result."))
    assert [len(step.subagents) for step in read.steps] == [1, 0]
    assert read.notices == ()
    last = only(tmp_path, heard("Go."), said("m1", call("a")))
    assert (len(last.steps[0].subagents), last.notices) == (1, ())


def test_a_sub_agent_that_no_call_is_linked_to_is_reported_and_kept(tmp_path: Path) -> None:
    path = session(tmp_path / "s1" / "subagents" / "agent-x.jsonl", *agent("x"))
    path.with_suffix(".meta.json").write_text("broken")
    read = only(tmp_path, heard("Go."), said("m1", "One."), said("m2", "Two."))
    assert [len(step.subagents) for step in read.steps] == [0, 1]
    assert [n.text for n in read.notices] == ["sub-agent x is linked to no call"]


@pytest.mark.parametrize("content", [b"", b"\x1f\x8bbroken", b"\x28\xb5\x2f\xfdbroken", b"{\n{\n"])
def test_a_damaged_file_of_a_sub_agent_costs_only_itself(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "agent-x.jsonl").write_bytes(content)
    read = family(tmp_path)
    assert words(read) == ["", "Done."]
    assert {(n.kind, Path(n.source.path).name) for n in read.notices} == {("skipped", "agent-x.jsonl")}


def test_strict_reaches_into_sub_agents(tmp_path: Path) -> None:
    path = session(tmp_path / "s1.jsonl", heard("Go."), said("m1", call("a")))
    session(tmp_path / "s1" / "subagents" / "agent-x.jsonl", *agent("x"), '{"cut')
    with pytest.raises(SkippedRecords, match=r"agent-x\.jsonl:3"):
        list(dense.read(path, strict=True))


COMMAND = "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>{}</command-args>"


def test_a_command_and_what_it_stands_for_are_the_task(tmp_path: Path) -> None:
    expansion = heard([{"type": "text", "text": "Fix the bug that is named."}], isMeta=True)
    read = only(tmp_path, heard(COMMAND.replace("{}", "prices.py")), expansion, said("m1", "One."))
    assert read.task == dense.Task("/fix prices.py\n\nFix the bug that is named.")


def test_commands_to_the_program_itself_are_no_task(tmp_path: Path) -> None:
    lines = [heard("<command-name>/clear</command-name>"), heard("<local-command-stdout></local-command-stdout>")]
    lines.append(
        heard("Caveat: The messages below were generated by the user while running local commands.", isMeta=True)
    )
    assert only(tmp_path, *lines, heard("Count."), said("m1", "One.")).task == dense.Task("Count.")
    assert only(tmp_path, *lines, said("m1", "One.")).task is None


def test_words_of_the_user_win_over_a_command(tmp_path: Path) -> None:
    read = only(tmp_path, heard(COMMAND), heard("Count."), said("m1", "One."))
    assert read.task == dense.Task("Count.")


def test_an_instruction_that_quotes_a_command_is_kept_whole(tmp_path: Path) -> None:
    asked = "Why is <command-name>/fix</command-name> in my log?"
    assert only(tmp_path, heard(asked), said("m1", "One.")).task == dense.Task(asked)


def test_a_command_without_end_takes_no_time(tmp_path: Path) -> None:
    assert_within(5, lambda: only(tmp_path, heard("<command-name>" * 50_000), said("m1", "One.")))


def test_reminders_are_no_part_of_the_task(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": t} for t in ("<system-reminder>\nTools.\n</system-reminder>\n", "Count.")]
    assert only(tmp_path, heard(parts), said("m1", "One.")).task == dense.Task("Count.")


def test_later_words_are_observations(tmp_path: Path) -> None:
    lines = [said("m1", "One."), heard("And two?"), heard("Note.", isMeta=True), heard(COMMAND.replace("{}", "x"))]
    (step,) = only(tmp_path, heard("Go."), *lines).steps
    assert [(o.origin, o.text) for o in step.observations] == [
        ("user", "And two?"),
        ("system", "Note."),
        ("user", "/fix x"),
    ]


def test_what_the_program_says_in_the_models_place_is_no_action(tmp_path: Path) -> None:
    failed = said("m2", "API Error: 529", isApiErrorMessage=True)
    failed["message"]["model"] = "<synthetic>"
    read = only(tmp_path, heard("Go."), failed, said("m1", "One."), failed, said("m3", "Two."))
    assert words(read) == ["One.", "Two."]
    assert [(o.origin, o.is_error) for o in read.steps[0].observations] == [("system", True)]


def test_another_model_is_reported_with_its_step(tmp_path: Path) -> None:
    other = said("m2", "Two.")
    other["message"]["model"] = "n"
    read = only(tmp_path, heard("Go."), said("m1", "One."), other)
    assert (read.model, [step.model for step in read.steps]) == ("m", [None, "n"])


def test_thinking_that_is_hidden_leaves_nothing(tmp_path: Path) -> None:
    hidden = {"type": "redacted_thinking", "data": "x" * 100}
    (step,) = only(tmp_path, heard("Go."), said("m1", hidden, {"type": "thinking", "thinking": "Aha."}, "One.")).steps
    assert (step.reasoning, step.message) == ("Aha.", "One.")


def test_bookkeeping_is_passed_over_silently_and_the_rest_is_reported(tmp_path: Path) -> None:
    silent = [{"type": kind, "sessionId": "s1"} for kind in ("progress", "summary", "queue-operation", "attachment")]
    strange = [{"type": "hologram"}, {"no": "type"}, [1], "{", {"type": "user", "message": "x", "parentUuid": None}]
    early = result("lost")
    read = only(tmp_path, *silent, early, heard("Go."), *strange, said("m1", "One."))
    assert words(read) == ["One."]
    assert sorted(n.source.line or 0 for n in read.notices) == [5, 7, 8, 9, 10, 11]
    assert {n.kind for n in read.notices} == {"skipped"}


def test_comment_lines_at_the_start_are_no_damage(tmp_path: Path) -> None:
    read = only(tmp_path, "// recorded by hand", heard("Go."), said("m1", "One."))
    assert ([step.source.line for step in read.steps], read.notices) == ([3], ())


def test_a_session_is_read_lazily(tmp_path: Path) -> None:
    lines = [said(f"m{number}", "Step.") for number in range(500)]
    (stream,) = read_streams(session(tmp_path / "s1.jsonl", heard("Go."), *lines, '{"cut'))
    assert isinstance(stream, Stream)
    assert (stream.task, stream.model) == (dense.Task("Go."), "m")
    steps: Iterator[dense.Step] = stream.counted()
    assert next(steps).source.line == 2
    assert stream.notices.items == []  # the damage at the end has not been reached
    assert sum(1 for _ in steps) == 499
    assert [n.source.line for n in stream.notices.items] == [502]


@pytest.mark.parametrize(
    ("line", "claimed"),
    [
        (heard("Go."), True),
        (said("m", "One."), True),
        ({"type": "summary", "summary": "x", "leafUuid": "u"}, True),
        ({"type": "system", "subtype": "init", "claude_code_version": "2"}, True),
        ({"type": "file-history-snapshot", "snapshot": {}}, True),
        ({"type": "user", "message": {"role": "user"}}, False),
        ({"type": "user", "message": "x", "sessionId": "s"}, False),
        ({"type": "init", "session_id": "s"}, False),
        ({"type": "message", "role": "user"}, False),
        ({"type": "system"}, False),
        (None, False),
    ],
)
def test_claims(line: Any, claimed: bool) -> None:
    assert ClaudeCode().claims([line]) is claimed
