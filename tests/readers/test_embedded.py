"""Calls inside the text of a message: fences, XML, and the raw answers of Terminus-2."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from cpu_time import assert_within
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dense.readers.embedded import (
    MessageWithCalls,
    bash_fence,
    element,
    function_xml,
    offered_functions,
    python_calls,
    terminus,
)
from dense.trajectory import ToolCall


def bash(command: str) -> list[ToolCall]:
    return [ToolCall("bash", {"command": command})]


@pytest.mark.parametrize(
    ("message", "text", "command"),
    [
        ("```bash\nls\n```", "", "ls"),
        ("THOUGHT: I look.\n\n```bash\nls -la\n```", "THOUGHT: I look.", "ls -la"),
        ("Before.\n```mswea_bash_command\nls\n```\nAfter.", "Before.\n\nAfter.", "ls"),
        ("```bash  \nls\n```  ", "", "ls"),
        ("```sh\ncat <<'EOF' > a\nUse `+=`.\nEOF\n```", "", "cat <<'EOF' > a\nUse `+=`.\nEOF"),
        ("```python\nprint()\n```\n```bash\nls\n```", "```python\nprint()\n```", "ls"),
        ("```bash\nls\n```\n```bash\nnot closed", "```bash\nnot closed", "ls"),
        ("```bash\n\n  ls \n\n```", "", "\n  ls \n"),
        ("Inline ```bash\nls\n```", "Inline", "ls"),
    ],
)
def test_one_fence_is_a_call(message: str, text: str, command: str) -> None:
    assert bash_fence(message) == MessageWithCalls(text, bash(command))


@pytest.mark.parametrize(
    "message",
    [
        "",
        "No command.",
        "```bash\nls",
        "```bash\n```",
        "```bash ls\n```",
        "```python\nprint()\n```",
        "```bash\nls\n```\n\n```bash\npwd\n```",
        '"```bash\n...\n```"\nI wrote two:\n"```bash\n...\n```"\n```bash\nls\n```',
    ],
)
def test_none_or_several_fences_are_no_call(message: str) -> None:
    assert bash_fence(message) is None


def test_a_block_ends_where_the_program_ends_it() -> None:
    """What follows the backticks of a nested block was never run."""
    message = "```bash\ncat > README.md <<'EOF'\n```python\nprint()\n```\nEOF\n```"
    spoken = bash_fence(message)
    assert spoken is not None
    assert spoken.calls == bash("cat > README.md <<'EOF'")


def test_xml_calls() -> None:
    message = (
        "I look.\n<function=execute_bash>\n<parameter=command>\ncd /app\n\nls\n</parameter>\n"
        "<parameter=timeout>5</parameter>\n</function>\nThen I think.\n<function=think></function>"
    )
    assert function_xml(message) == MessageWithCalls(
        "I look.\n\nThen I think.",
        [ToolCall("execute_bash", {"command": "cd /app\n\nls", "timeout": "5"}), ToolCall("think")],
    )


def test_an_xml_call_that_was_cut_off_keeps_its_whole_parameters() -> None:
    message = "<function=edit>\n<parameter=path>/app/a.py</parameter>\n<parameter=text>half of"
    assert function_xml(message) == MessageWithCalls("", [ToolCall("edit", {"path": "/app/a.py"})])


def test_an_xml_parameter_keeps_its_own_newlines_and_tags() -> None:
    spoken = function_xml("<function=edit><parameter=text>\n\n<b>a</b> < 1\n\n</parameter></function>")
    assert spoken == MessageWithCalls("", [ToolCall("edit", {"text": "\n<b>a</b> < 1\n"})])


@pytest.mark.parametrize(
    "message", ["", "no call", "<function>ls</function>", "<function= >", "<function=a", "function=a"]
)
def test_text_that_is_no_xml_call(message: str) -> None:
    assert function_xml(message) is None


ANSWER = {
    "analysis": "At /app.",
    "plan": "Look.",
    "commands": [{"keystrokes": "ls\n", "duration": 0.5}, {"keystrokes": "C-c"}],
    "task_complete": False,
}
LOOKED = [
    ToolCall("bash_command", {"keystrokes": "ls\n", "duration": 0.5}),
    ToolCall("bash_command", {"keystrokes": "C-c"}),
]


@pytest.mark.parametrize("message", [json.dumps(ANSWER), f"Sure:\n```json\n{json.dumps(ANSWER, indent=2)}\n```"])
def test_terminus_json(message: str) -> None:
    assert terminus(message) == MessageWithCalls("Analysis: At /app.\nPlan: Look.", LOOKED)


def test_terminus_json_that_completes_the_task() -> None:
    spoken = terminus(json.dumps(ANSWER | {"commands": [], "task_complete": True}))
    assert spoken == MessageWithCalls("Analysis: At /app.\nPlan: Look.", [ToolCall("mark_task_complete")])


def test_terminus_json_that_only_waits() -> None:
    spoken = terminus(json.dumps(ANSWER | {"commands": []}))
    assert spoken == MessageWithCalls("Analysis: At /app.\nPlan: Look.", [])


XML = """<response>
<analysis>
At /app.
</analysis>
<plan>Look.</plan>
<commands>
<keystrokes duration="0.5">ls
</keystrokes>
<keystrokes>echo '<plan>no</plan>'</keystrokes>
</commands>
<task_complete>true</task_complete>
</response>"""


def test_terminus_xml() -> None:
    assert terminus(XML) == MessageWithCalls(
        "Analysis: At /app.\nPlan: Look.",
        [
            ToolCall("bash_command", {"keystrokes": "ls\n", "duration": "0.5"}),
            ToolCall("bash_command", {"keystrokes": "echo '<plan>no</plan>'"}),
            ToolCall("mark_task_complete"),
        ],
    )


def test_terminus_xml_that_was_cut_off() -> None:
    spoken = terminus(XML[: XML.index("<keystrokes>echo") + 20])
    assert spoken is not None
    assert [call.arguments["keystrokes"] for call in spoken.calls] == ["ls\n"]


def test_terminus_xml_that_completes_without_a_command() -> None:
    spoken = terminus("<analysis>Done.</analysis><commands></commands><task_complete>true</task_complete>")
    assert spoken == MessageWithCalls("Analysis: Done.", [ToolCall("mark_task_complete")])


@pytest.mark.parametrize(
    "message",
    [
        "I will count the lines.",
        'The config has {"commands": ["build", "test"]} now.',
        'Run {"commands": [{"keystrokes": "ls"}]} by hand.',
        '{"analysis": "a", "plan": "b", "commands": "ls"}',
        '{"analysis": "a", "plan": "b", "commands": [',
        '"commands" and a {brace}',
        "I fixed how <keystrokes> is parsed.",
        "<commands><keystrokes>ls</keystrokes></commands> is the old form.",
        '["commands", {}]',
    ],
)
def test_words_about_commands_stay_words(message: str) -> None:
    assert terminus(message) is None


def test_odd_values_in_terminus_json() -> None:
    answer = {"analysis": None, "plan": ["a", {"b": 1}], "commands": [None, "ls", {}, 7], "task_complete": "true"}
    assert terminus(json.dumps(answer)) == MessageWithCalls('Plan: a\n{"b":1}', [ToolCall("bash_command")])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a>x</a>", "x"),
        ("<a>\nx\n</a><a>y</a>", "x"),
        ("<a></a>", ""),
        ("</a><a>x", ""),
        ("</a> <a>x</a>", "x"),
        ("nothing", ""),
    ],
)
def test_the_first_element(text: str, found: str) -> None:
    assert element(text, "a") == found


HOSTILE: dict[str, tuple[Callable[[str], MessageWithCalls | None], str]] = {
    "fences": (bash_fence, "```bash\n" * 50_000),
    "backticks": (bash_fence, "`" * 500_000),
    "spaces behind a fence": (bash_fence, "```bash" + " " * 500_000),
    "functions": (function_xml, "<function=" * 50_000),
    "function tags": (function_xml, "<function=a>" * 50_000),
    "parameters": (function_xml, "<function=a>" + "<parameter=a>" * 50_000),
    "half parameters": (function_xml, "<function=a>" + "<parameter=" * 50_000),
    "braces": (terminus, '"commands"' + "{" * 500_000 + "}"),
    "keystrokes": (terminus, "<plan>a</plan><commands>" + "<keystrokes>" * 50_000),
    "half keystrokes": (terminus, "<plan>a</plan><commands>" + "<keystrokes" * 50_000),
    "plans": (terminus, "<commands>" + "<plan>" * 50_000),
}


@pytest.mark.parametrize(("read", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_no_time(read: Callable[[str], MessageWithCalls | None], message: str) -> None:
    assert_within(5, lambda: read(message))


MARKS = """
``` bash <function= a> <parameter= </parameter> </function> "commands" { } [ ] : "plan" , <plan> </plan>
<commands> </commands> <keystrokes </keystrokes>
""".split()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["\n", *MARKS]) | st.text(max_size=3), max_size=30).map("".join))
def test_a_call_holds_only_what_the_message_says(message: str) -> None:
    for read in (bash_fence, function_xml):
        spoken = read(message)
        assert spoken is None or spoken.calls
        for call in spoken.calls if spoken else []:
            assert all(value in message for value in (*call.arguments, *call.arguments.values()) if value != "command")
    terminus(message)


def test_functions_are_offered_by_their_signatures() -> None:
    prompt = (
        "1. run(cmd: str): runs\n2. put(path: str, lines: Tuple[int, int] = (1, 2)): no\n* see(a, *, b=1) -> str: sees"
    )
    assert offered_functions([prompt, "def run(other): ...", "obj.call(x): y", "not(a b): c"]) == {
        "run": ("cmd",),
        "see": ("a", "b"),
    }


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200))
def test_any_text_may_be_a_program(text: str) -> None:
    functions = offered_functions(["run(cmd: str): runs", text])
    for message in (text, f"run({text})", f"run('''{text}''')"):
        spoken = python_calls(message, functions)
        assert spoken is None or all(call.name in functions for call in spoken.calls)


@pytest.mark.parametrize("unit", ["run(", "run('a')\n", "run(x)+", "-run(", "[", "a(b: c): "])
def test_programs_take_linear_time(unit: str) -> None:
    text = unit * (190_000 // len(unit))
    assert_within(10, lambda: python_calls(text, offered_functions(["run(cmd: str): runs", text])))
