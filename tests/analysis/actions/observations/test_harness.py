"""Exit codes and what harnesses write around an output."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedFailure, ObservedResult
from dense.analysis.actions.step_effects import effects
from dense.knowledge.errors import EXCEPTION, EXIT, TOOL
from dense.trajectory import Observation, Source, Step, ToolCall

type Look = Callable[..., ObservedResult]

CODES: list[tuple[str, int]] = [
    ("<returncode>3</returncode>\n<output>\nx\n</output>", 3),
    ("Exit code 3\nx", 3),
    ("Error: Exit code 3\nx", 3),
    ("Exit code: 3\nWall time: 1 seconds\nOutput:\nx", 3),
    ("Chunk ID: 6dfb54\nWall time: 0.5 seconds\nProcess exited with code 3\nOutput:\nx", 3),
    ("exitcode: 3 (execution failed)\nCode output: x", 3),
    ("The script ran, then exited with Unix exit code: 3\nIts output was:\nx", 3),
    ("x\n[The command completed with exit code 3.]\n[Current working directory: /a]", 3),
    ("x\n[Command finished with exit code 3]", 3),
    ("x\n\n\nCommand exited with code 3", 3),
    ("x\nexit status 3\n\n", 3),
    ("Command: a\nOutput: x\nError: (none)\nExit Code: 3\nSignal: (none)", 3),
    ('{"output":"x","metadata":{"exit_code":3,"duration_seconds":0.1}}', 3),
    ("x\n(exit code: 3)", 3),
]


@pytest.mark.parametrize(("text", "code"), CODES)
def test_a_harness_reports_the_exit_code(after: Look, text: str, code: int) -> None:
    found = after("./a", text)
    assert found.exit_code == code
    assert found.failures == (ObservedFailure(EXIT, f"exit code {code}", str(code)),)
    assert not after("./a", text.replace("3", "0", 1).replace("6dfb54", "6d")).has_failed


def test_a_code_in_the_midst_of_contents_is_none(after: Look) -> None:
    assert after("cat a", f"Process exited with code 3\n{'x' * 900}\n{'y' * 900}").exit_code is None


def test_a_recorded_code_is_not_overruled(after: Look) -> None:
    assert after("./a", "Exit code 3", code=0).exit_code == 0


@pytest.mark.parametrize(
    ("code", "family"),
    [
        (2, "exit"),
        (124, "time_out"),
        (126, "permission"),
        (127, "no_such_command"),
        (134, "killed"),
        (137, "killed"),
        (139, "killed"),
        (143, "killed"),
        (-9, "killed"),
        (-11, "killed"),
        (255, "exit"),
    ],
)
def test_a_code_that_nothing_explains_is_a_failure(after: Look, code: int, family: str) -> None:
    (failure,) = after("./a", "some output", code=code).failures
    assert (failure.family.code, failure.line, failure.subject) == (family, f"exit code {code}", str(code))


def test_a_line_that_explains_stands_for_the_code(after: Look) -> None:
    assert [f.family.code for f in after("ls nope", "ls: cannot access 'nope': No such file", code=2).failures] == [
        "no_such_file"
    ]


def test_a_code_that_was_printed_is_an_answer(after: Look) -> None:
    assert not after('./a --bad; echo "exit: $?"', "exit: 1").has_failed


@pytest.mark.parametrize(
    "text",
    [
        "Command timed out after 2m 0.0s",
        "command timed out after 10000 milliseconds",
        "EXECUTION TIMED OUT",
        "x\n[The command timed out after 30 seconds.]",
        "The last command <command>python a.py</command> timed out and has been killed.\nThe output was:",
    ],
)
def test_a_command_that_was_cut_off(after: Look, text: str) -> None:
    assert [failure.family.code for failure in after("python a.py", text).failures] == ["time_out"]


def test_the_last_code_is_reported_and_each_call_is_read_by_what_it_did() -> None:
    calls = (ToolCall("bash", {"command": "cat a.log"}, "1"), ToolCall("bash", {"command": "python b.py"}, "2"))
    trace = 'Traceback (most recent call last):\n  File "a", line 1\n    f()\nValueError: x'

    def see(first: str, second: str) -> ObservedResult:
        answers = (Observation(first, "1", exit_code=0), Observation(second, "2", exit_code=7 if second else 0))
        step = Step(Source("t"), calls=calls, observations=answers)
        return observe(step, effects(step))

    assert not see(trace, "").has_failed
    assert see("", trace).has_failed
    assert see("", trace).exit_code == 7


def test_nothing_came_back() -> None:
    step = Step(Source("t"), calls=(ToolCall("bash", {"command": "ls"}),))
    assert observe(step, effects(step)) == ObservedResult()
    assert observe(Step(Source("t"), observations=(Observation(" \n"),)), effects(step)).is_empty


REFUSALS = [
    ("str_replace_editor", "ERROR:\nNo replacement was performed, old_str `a` did not appear verbatim in /a."),
    ("str_replace_editor", "Error: Invalid `path` parameter: x. The path should be absolute."),
    ("Edit", "<tool_use_error>String to replace not found in file.</tool_use_error>"),
    ("book_flight", "Error: not enough seats on flight HAT213"),
    ("mcp__db__query", "MCP error -32602: Invalid arguments"),
    ("", "Please always provide EXACTLY ONE action in triple backticks, found 0 actions."),
    ("", "Previous response had parsing errors:\nERROR: No valid JSON found in response"),
]


@pytest.mark.parametrize(("name", "text"), REFUSALS)
def test_a_tool_that_refuses(tool: Look, name: str, text: str) -> None:
    assert [failure.family.code for failure in tool(name, text, x=1).failures] == ["tool"]


def test_what_the_harness_calls_an_error_is_one(tool: Look) -> None:
    assert tool("Edit", "File has not been read yet. Read it first.", is_error=True).failures == (
        ObservedFailure(TOOL, "File has not been read yet. Read it first."),
    )
    assert tool("Write", "x\n\n[error] tool reported failure").has_failed


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/", "connection"),
        ("Error: TimeoutError: locator.click: Timeout 30000ms exceeded.", "time_out"),
        ("Error: ENOENT: no such file or directory, open '/a'", "no_such_file"),
        ("Here is a screenshot of [a](chrome-error://chromewebdata/). The viewport shows 100%", "connection"),
    ],
)
def test_a_tool_whose_error_has_a_family(tool: Look, text: str, family: str) -> None:
    assert [failure.family.code for failure in tool("browser_click", text, x=1).failures] == [family]


def test_an_action_without_a_call_that_ends_in_a_traceback(tool: Look) -> None:
    trace = 'Traceback (most recent call last):\n  File "a", line 1\n    f()\nValueError: x'
    assert tool("", f"a page\n{trace}\nRUN COMPLETE").failures == (
        ObservedFailure(EXCEPTION, "ValueError: x", "ValueError"),
    )
    assert not tool("", f"{trace}\n{'a page ' * 900}").has_failed
