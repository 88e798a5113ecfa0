"""Feedback that a run was given is cut out of its record, however it stands there, and nothing else is."""

from __future__ import annotations

import base64
import html
import json
import re
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from cpu_time import assert_growth
from hypothesis import given, settings
from hypothesis import strategies as st
from made_feedback import tree_feedback

import dense
from dense.message.injected_feedback import MARK, without_injected
from dense.redact.walk import texts_of
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.tree import Leaf, ReconciledTree, Subtask

ROOT = Path(__file__).parents[2]
TASK = "Read `/app/sales.csv`,\n\nand make a <chart> of it & more.\n"
BEFORE = "You are an agent with a terminal.\n\nTask:\n"


def message(words: str = "an earlier attempt left chart.png undone") -> str:
    """A message as a recipient gets it."""
    step = Step(Source("x"), f"I try it: {words}", observations=(Observation(f"{words}\nnot found <b>&\n"),))
    tree = ReconciledTree("t", Task(TASK), Subtask("n1", 0, "the whole", f"Not done: {words}.", (Leaf("n0", 1, step),)))
    return tree_feedback(tree).message


MESSAGE = message()
SAID = {line.strip() for line in MESSAGE.removesuffix(TASK).splitlines() if len(line.strip()) >= 20}


def trajectory(task: str | None = "do it", *steps: Step) -> Trajectory:
    found = steps or (Step(Source("x"), "hello"),)
    return Trajectory("test", "t", Source("x"), task=None if task is None else Task(task), steps=found)


def left(found: Trajectory) -> list[str]:
    """Lines of the message that are still somewhere."""
    everything = "\n".join(texts_of(found))
    return [line for line in SAID if line in everything or html.escape(line) in everything]


def broken(text: str, width: int = 60) -> str:
    """As a terminal of this width shows it."""
    return "\n".join(line[at : at + width] for line in text.split("\n") for at in range(0, max(len(line), 1), width))


MANGLED: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "wrapped": lambda text: f"{BEFORE}{text}\n\nBegin.",
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "JSON": lambda text: f'{{"prompt": {json.dumps(text)}}}',
    "JSON twice": lambda text: json.dumps(json.dumps(text)),
    "HTML": html.escape,
    "indented": lambda text: textwrap.indent(text, "        "),
    "quoted": lambda text: textwrap.indent(text, "> ", lambda _: True),
    "wrapped lines": lambda text: textwrap.fill(text, 70, replace_whitespace=False, break_long_words=False),
    "terminal": lambda text: broken("$ cat message.txt; " + text),
    "narrow terminal": lambda text: broken(text, 29),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 in lines": lambda text: base64.encodebytes(f"{BEFORE}{text}".encode()).decode(),
    "base64 of URLs": lambda text: base64.urlsafe_b64encode(f".{text}".encode()).decode(),
}


@pytest.mark.parametrize("how", MANGLED)
@pytest.mark.parametrize("where", ["task", "user", "sub-agent", "output", "message", "reasoning", "argument"])
def test_no_trace_is_left(how: str, where: str) -> None:
    """What a run was told is cut in any case, other texts if the message is known to have been delivered as a file."""
    text = MANGLED[how](MESSAGE)
    assert "left chart.png undone" not in TASK
    step = Step(Source("x"), "fine")
    found = {
        "task": trajectory(text, step),
        "user": trajectory("do it", Step(Source("x"), "m", observations=(Observation(text, origin="user"),))),
        "output": trajectory("do it", Step(Source("x"), "m", observations=(Observation(f"$ cat f\n{text}\n$"),))),
        "message": trajectory("do it", Step(Source("x"), text)),
        "reasoning": trajectory("do it", Step(Source("x"), reasoning=text)),
        "argument": trajectory("do it", Step(Source("x"), calls=(ToolCall("t", {"a": {"b": [text]}}),))),
        "sub-agent": trajectory("do it", Step(Source("x"), subagents=(trajectory(text, step),))),
    }[where]
    is_input = where in {"task", "user", "sub-agent"}
    if not is_input:
        assert without_injected(found) == found
    delivered = "" if is_input else MESSAGE
    cut = without_injected(found, delivered=delivered)
    everything = "\n".join(texts_of(cut))
    assert left(cut) == []
    assert "dense-feedback" not in everything
    for word in re.findall(r"[A-Za-z0-9+/_=-]{40,}", everything):
        decoded = base64.b64decode(
            word + "=" * (-len(word) % 4), altchars=b"-_" if "_" in word or "-" in word else None
        )
        assert b"chart.png undone" not in decoded
    assert without_injected(cut, delivered=delivered) == cut


def test_the_task_is_what_it_was_byte_by_byte() -> None:
    assert without_injected(trajectory(MESSAGE)).task == Task(TASK)
    wrapped = without_injected(trajectory(f"{BEFORE}{MESSAGE}"))
    assert wrapped.task is not None
    assert wrapped.task.instruction == BEFORE + TASK


def test_a_message_without_a_task_leaves_none() -> None:
    tree = ReconciledTree("t", None, Subtask("n1", 0, "w", "s", (Leaf("n0", 1, Step(Source("x"), "m")),)))
    assert without_injected(trajectory(tree_feedback(tree).message)).task is None


def test_several_and_nested_messages() -> None:
    other = message("another thing that was tried first")
    inside = message(MESSAGE)
    cut = without_injected(trajectory(other.removesuffix(TASK) + inside))
    assert cut.task == Task(TASK)


def test_split_over_what_the_run_was_given() -> None:
    third = len(MESSAGE) // 3
    parts = [MESSAGE[:third], MESSAGE[third : 2 * third], MESSAGE[2 * third :]]
    first = Step(Source("x"), "I see.", observations=(Observation(parts[1], origin="user"), Observation("ls: a b")))
    second = Step(Source("x"), "Go on.", observations=(Observation(parts[2], origin="system"),))
    cut = without_injected(trajectory(parts[0], first, second))
    assert left(cut) == []
    assert [step.message for step in cut.steps] == ["I see.", "Go on."]
    assert [seen.text for step in cut.steps for seen in step.observations] == ["", "ls: a b", TASK]


@pytest.mark.parametrize("part", [slice(0, 150), slice(len(MESSAGE) // 2, None)])
def test_pieces_of_a_delivered_file_go(part: slice) -> None:
    """A run that was given feedback as a file looks at a part of it."""
    step = Step(Source("x"), "m", observations=(Observation(f"$ sed -n p f\n{MESSAGE[part]}"),))
    cut = without_injected(trajectory(MESSAGE, step), delivered=MESSAGE)
    shown = cut.steps[0].observations[0].text
    assert MARK in shown
    assert "dense-feedback" not in shown


@pytest.mark.parametrize("line", ["01abc| end", "[dense-feedback-01abc] x"])
def test_a_line_in_an_output_erases_no_evidence(line: str) -> None:
    text = f"FAILED 3 tests\n{line}\nmore"
    found = trajectory("do it", Step(Source("x"), "m", observations=(Observation(text),)))
    for delivered in ("", MESSAGE):
        assert without_injected(found, delivered=delivered).steps[0].observations[0].text == text


def test_an_agent_cannot_hide_its_actions() -> None:
    """The two lines in outputs of different actions take nothing away in between."""
    lines = MESSAGE.splitlines()
    end = next(line for line in lines if line.endswith("| end"))
    steps = [
        Step(Source("x"), "one", observations=(Observation(lines[0]),)),
        Step(Source("x"), "two", observations=(Observation("FAILED 3 tests"),)),
        Step(Source("x"), "three", observations=(Observation(end),)),
    ]
    cut = without_injected(trajectory("do it", *steps))
    assert [step.message for step in cut.steps] == ["one", "two", "three"]
    assert cut.steps[1].observations[0].text == "FAILED 3 tests"


def test_what_holds_no_feedback_is_the_same_object() -> None:
    for found in dense.read(ROOT / "examples"):
        assert without_injected(found) is found


def test_an_ordinary_text_about_feedback_stays() -> None:
    words = "dense-feedback-loops; see dense-feedback-1abcd, [dense-feedback-1abcd] and the 1abcd| ends, 2abcd| end."
    found = trajectory(words, Step(Source("x"), words))
    assert without_injected(found) == found


@given(st.lists(st.sampled_from([*MESSAGE.splitlines()[:3], *MESSAGE.splitlines()[-6:], "x", MESSAGE, "\n", " "])))
@settings(max_examples=60, deadline=None)
def test_never_raises_and_is_done_at_once(parts: list[str]) -> None:
    text = "".join(parts)
    step = Step(Source("x"), text, observations=(Observation(text, origin="user"), Observation(text)))
    cut = without_injected(trajectory(text, step))
    assert without_injected(cut) == cut


@pytest.mark.parametrize(
    "unit", ["[dense-feedback-01abc]\n", "[dense-feedback-", "dense-feedback- \n ", "ZGVuc2UtZmVlZGJh", "0\n1 \na\n"]
)
def test_time_is_linear(unit: str) -> None:
    def work(count: int) -> Callable[[], object]:
        return partial(without_injected, trajectory(unit * count, Step(Source("x"), unit * count)))

    assert_growth(work, 2_000, 16_000, most=20, spare=0.2)


FORGED = "[dense-feedback-0badc] x\n{}\n0badc| end\n"


def test_lines_in_a_task_cannot_erase_it() -> None:
    hostile = FORGED.format("Read the file and fix the crash.")
    assert without_injected(trajectory(hostile)).task == Task(hostile)


def test_a_record_of_the_delivery_says_what_is_cut() -> None:
    """An issue that was copied into the task has lines of its own: only the message that was delivered goes."""
    issue = "Fix the crash.\n" + FORGED.format("It crashes when the file is empty.") + "Thanks.\n"
    found = without_injected(trajectory(MESSAGE.removesuffix(TASK) + issue), delivered=MESSAGE)
    assert found.task == Task(issue)
