"""The rows of agent tools: each name once, and enough for a new tool."""

from __future__ import annotations

import pytest

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.step_effects import commands, effects
from dense.knowledge import tools
from dense.knowledge.program import words
from dense.knowledge.tools import ROWS, Kind, Tool, known_tool, own_name, plain_name, tools_of_kind
from dense.trajectory import Source, Step, ToolCall


def step(arguments: dict[str, str]) -> Step:
    return Step(Source("x"), calls=(ToolCall("do_it", arguments),))


def test_each_tool_has_one_row() -> None:
    names = [name for one in ROWS for name in one.names]
    assert len(names) == len(set(names))


def test_rows_have_plain_names() -> None:
    assert all(name == plain_name(name) for one in ROWS for name in one.names)


def test_every_trait_is_used_and_explained() -> None:
    assert {trait for one in ROWS for trait in one.traits} == set(tools.TRAITS)


@pytest.mark.parametrize(
    ("name", "own", "plain"),
    [
        ("Bash", "Bash", "bash"),
        ("mcp__fs__write_file", "write_file", "writefile"),
        ("functions.shell", "shell", "shell"),
        ("str_replace_editor", "str_replace_editor", "strreplaceeditor"),
    ],
)
def test_names(name: str, own: str, plain: str) -> None:
    assert (own_name(name), plain_name(name)) == (own, plain)


ADDED: list[tuple[Kind, dict[str, str], Effects]] = [
    ("write", {"path": "a"}, Effects(writes=("a",))),
    ("look", {"path": "a"}, Effects(reads=("a",))),
    ("delete", {"path": "a"}, Effects(deletes=("a",))),
    ("ask", {"url": "http://x"}, Effects(network=("http://x",))),
    ("talk", {"path": "a"}, Effects()),
    ("shell", {"command": "rm a"}, Effects(deletes=("a",), runs=("rm",))),
]


@pytest.mark.parametrize(("kind", "arguments", "expected"), ADDED)
def test_a_new_tool_is_one_row(
    kind: Kind, arguments: dict[str, str], expected: Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert effects(step(arguments)).runs == (("rm",) if kind == "shell" else ("do_it",))
    monkeypatch.setitem(tools._BY_NAME, "doit", Tool(words("doit"), kind))  # pyright: ignore[reportPrivateUsage]
    assert effects(step(arguments)) == expected
    assert bool(commands(step(arguments))) == (kind == "shell")


def test_queries() -> None:
    assert known_tool("todowrite").kind == "talk"
    assert known_tool("nothing of the kind") == Tool()
    assert "applypatch" in tools_of_kind("patch")


@pytest.mark.parametrize(
    ("names", "trait"),
    [
        (
            "TodoWrite todoWrite update_todo_list manage_todo_list todo clearTodo update_plan mcp__x__write_todos",
            "plans",
        ),
        (
            "attemptCompletion attempt_completion return_result finish submit submit_answer task_complete done"
            " mark_task_complete report_task_completion final_answer complete_task AgentFinish provide_final_answer"
            " functions.finish end_conversation submitFlag",
            "hands_over",
        ),
    ],
)
def test_a_class_of_tools_is_known_by_the_shape_of_its_names(names: str, trait: str) -> None:
    for name in names.split():
        tool = known_tool(plain_name(name))
        assert (tool.kind, tool.traits) == ("talk", {trait}), name


def test_tools_that_act_on_such_things_are_no_plans_and_no_hand_overs() -> None:
    for name in ("add_todo", "create_todo", "submit_order", "return_item", "complete_order", "return_delivered_items"):
        assert known_tool(plain_name(name)) == Tool(), name
