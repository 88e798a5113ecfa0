"""Tools of the usual agents, by name and arguments."""

from __future__ import annotations

from typing import Any

import pytest

from dense.analysis.actions.step_effects import commands, effects
from dense.trajectory import Source, Step, ToolCall

PATCH = """*** Begin Patch
*** Add File: n.py
+x
*** Update File: o.py
*** Move to: p.py
*** Delete File: d.py
*** End Patch"""
DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- a/gone.py\n+++ /dev/null\n"

Expected = dict[str, tuple[str, ...]]
TOOLS: list[tuple[str, dict[str, Any], Expected]] = [
    ("Edit", {"file_path": "/a.py", "old_string": "a", "new_string": "b"}, {"writes": ("/a.py",)}),
    ("Write", {"file_path": "/a.py", "content": ""}, {"writes": ("/a.py",)}),
    ("MultiEdit", {"file_path": "/a.py", "edits": [{"old_string": "a"}]}, {"writes": ("/a.py",)}),
    ("NotebookEdit", {"notebook_path": "/a.ipynb", "new_source": ""}, {"writes": ("/a.ipynb",)}),
    ("Read", {"file_path": "/a.py", "limit": 5}, {"reads": ("/a.py",)}),
    ("Grep", {"pattern": "x", "path": "src"}, {"reads": ("src",)}),
    ("Glob", {"pattern": "**/*.py", "path": "src"}, {"reads": ("src",)}),
    ("LS", {"path": "/app"}, {"reads": ("/app",)}),
    ("WebFetch", {"url": "https://x.org", "prompt": "p"}, {"network": ("https://x.org",)}),
    ("WebSearch", {"query": "how to"}, {"network": ("how to",)}),
    ("TodoWrite", {"todos": []}, {}),
    ("Task", {"prompt": "write a.py"}, {}),
    ("apply_patch", {"input": PATCH}, {"writes": ("n.py", "o.py", "p.py"), "deletes": ("d.py",)}),
    ("apply_patch", {"input": DIFF}, {"writes": ("x.py",), "deletes": ("gone.py",)}),
    ("str_replace_editor", {"command": "view", "path": "/a"}, {"reads": ("/a",)}),
    ("str_replace_editor", {"command": "create", "path": "/a", "file_text": ""}, {"writes": ("/a",)}),
    ("str_replace_based_edit_tool", {"command": "insert", "path": "/a", "insert_line": 1}, {"writes": ("/a",)}),
    ("file_editor", {"command": "str_replace", "path": "/a", "old_str": "a"}, {"writes": ("/a",)}),
    ("write_file", {"file_path": "a", "content": ""}, {"writes": ("a",)}),
    ("replace", {"file_path": "a", "old_string": "x", "new_string": "y"}, {"writes": ("a",)}),
    ("read_many_files", {"paths": ["a", "b"]}, {"reads": ("a", "b")}),
    ("edit", {"path": "a", "oldText": "x", "newText": "y"}, {"writes": ("a",)}),
    ("edit", {"search": "x", "replace": "y"}, {"writes": ("{open file}",)}),
    ("delete_file", {"target_file": "a"}, {"deletes": ("a",)}),
    ("move_file", {"source": "a", "destination": "b"}, {"deletes": ("a",), "writes": ("b",)}),
    ("mcp__fs__write_file", {"path": "a", "content": ""}, {"writes": ("a",)}),
    ("mcp__pw__browser_navigate", {"url": "http://x"}, {"network": ("http://x",)}),
    ("mcp__pw__browser_take_screenshot", {"filename": "s.png"}, {"writes": ("s.png",)}),
    ("mcp__box__exec_it", {"command": "rm a"}, {"deletes": ("a",)}),
    ("python", {"code": "open('a','w')"}, {"writes": ("a",)}),
    ("get_user_details", {"user_id": "a.b"}, {}),
    ("shell", {"command": ["bash", "-lc", "rm a"]}, {"deletes": ("a",)}),
    ("shell", {"command": ["rm", "a b"]}, {"deletes": ("a b",)}),
    ("shell", {"input": '{"command": ["rm", "a"]}'}, {"deletes": ("a",)}),
    ("exec_command", {"cmd": "rm a", "workdir": "/app"}, {"deletes": ("a",)}),
    ("execute_bash", {"command": "rm a"}, {"deletes": ("a",)}),
    ("run_shell_command", {"command": "rm a"}, {"deletes": ("a",)}),
    ("Bash", {"command": "python a.py", "run_in_background": True}, {"services": ("python a.py",)}),
    ("bash", {"command": "edit 1:2\nrm -rf x\nend_of_edit"}, {"writes": ("{open file}",)}),
    ("ComputerTerminal", {"input": "Please run\n```python\nopen('a','w')\n```\nnow"}, {"writes": ("a",)}),
    ("ComputerTerminal", {"input": "Please remove everything > here"}, {}),
]


def step(name: str, arguments: dict[str, Any]) -> Step:
    return Step(Source("x"), calls=(ToolCall(name, arguments),))


@pytest.mark.parametrize(("name", "arguments", "expected"), TOOLS)
def test_what_a_tool_does(name: str, arguments: dict[str, Any], expected: Expected) -> None:
    found = effects(step(name, arguments))
    fields = ("reads", "writes", "deletes", "tests", "installs", "services", "network")
    assert {field: getattr(found, field) for field in fields if getattr(found, field)} == expected


def test_an_unknown_tool_has_run() -> None:
    assert effects(step("book_flight", {"id": "7"})).runs == ("book_flight",)


def test_commands_are_shell_texts_only() -> None:
    assert commands(step("shell", {"command": ["bash", "-lc", "ls && pwd"]})) == ("ls && pwd",)
    assert commands(step("shell", {"command": ["ls", "a b"]})) == ("ls 'a b'",)
    assert commands(step("python", {"code": "1"})) == ()
    assert commands(step("Edit", {"file_path": "a"})) == ()


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("startBackgroundJob", {"command": "npm run dev"}, "npm run dev"),
        ("developer__shell", {"command": "ls"}, "ls"),
        ("Execute", {"command": "pytest -q", "riskLevel": "low"}, "pytest -q"),
        ("launch", {"cmd": "timeout 5 python3 a.py"}, "timeout 5 python3 a.py"),
        ("tracker", {"command": "assign issue"}, None),
        ("editor_action", {"command": "find"}, None),
    ],
)
def test_a_command_line_is_one_whatever_the_tool_is_called(
    name: str, arguments: dict[str, Any], text: str | None
) -> None:
    step = Step(Source("t"), calls=(ToolCall(name, arguments),))
    assert commands(step) == ((text,) if text else ())
