"""The instruction itself: out of its wrapper, without context, each prompt once."""

from __future__ import annotations

import pytest
from cpu_time import assert_within

from dense.knowledge.harnesses import CORRECTIONS, INSERTED, REMINDERS
from dense.readers import StepBuilder
from dense.readers.task import task_of, unwrap_prompt
from dense.trajectory import Origin, Source, Task

TERMINUS = (
    "You are an AI assistant tasked with solving tasks.\n\nTask Description:\n{}\n\n"
    "Current terminal state:\nCurrent Terminal Screen:\n$ \n"
)

WRAPPERS = {
    "terminus-2": TERMINUS,
    "openhands": "Here's a running example of how to work.\n"
    "--------------------- NEW TASK DESCRIPTION ---------------------\n{}\n"
    "--------------------- END OF NEW TASK DESCRIPTION ---------------------\nGo on.",
    "mini-swe-agent, swebench": "<pr_description>\nConsider the following PR description:\n{}\n</pr_description>\n"
    "<instructions>\nChange the code.\n</instructions>",
    "swe-agent": "<uploaded_files>\n/repo\n</uploaded_files>\nI have uploaded a repository.\n"
    "<pr_description>\n{}\n</pr_description>\n\nCan you help?",
    "openhands, swebench": "<uploaded_files>\n/repo\n</uploaded_files>\n"
    "<issue_description>\n{}\n</issue_description>\n\nCan you help?",
    "mini-swe-agent": "Please solve this issue: {}\n\nYou can execute bash commands and edit files.",
}
INSTRUCTIONS = [
    "Repair it.",
    "Two\n\nparagraphs, a {brace} and a <tag>.\n",
    "It prints:\n\nCurrent terminal state:\n$ ls\n\nwhich is wrong.",
    "The text </pr_description> must be escaped, as must </issue_description>.",
]


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_a_wrapper_is_taken_off(wrapper: str, instruction: str) -> None:
    assert unwrap_prompt(wrapper.replace("{}", instruction)) == instruction


def test_an_instruction_that_quotes_the_whole_wrapper_is_kept() -> None:
    instruction = f"Improve this prompt:\n{TERMINUS}\nand this one:\n{TERMINUS}\nMake them short."
    assert unwrap_prompt(TERMINUS.replace("{}", instruction, 1)) == instruction


@pytest.mark.parametrize(
    "prompt",
    [
        "Repair it.",
        "\nTask Description:\nbut no end",
        "an end\n\nCurrent terminal state:\n then \nTask Description:\n",
        "<pr_description>\nnot closed",
        "\nTask Description:\n\nCurrent terminal state:\n",
    ],
)
def test_without_both_marks_the_prompt_is_the_instruction(prompt: str) -> None:
    assert unwrap_prompt(prompt) == prompt


def test_an_empty_instruction_in_a_wrapper_is_none() -> None:
    assert task_of([TERMINUS.replace("{}", "")]) is None


@pytest.mark.parametrize("start", INSERTED)
def test_context_is_no_task(start: str) -> None:
    assert unwrap_prompt(f"\n  {start}\nmore") == ""
    assert task_of([f"{start} more", "Count."]) == Task("Count.")
    assert task_of([f"{start} more"]) is None


def test_context_that_is_quoted_stays() -> None:
    prompt = "Why does it send <environment_context> twice?"
    assert unwrap_prompt(prompt) == prompt


@pytest.mark.parametrize("name", REMINDERS)
def test_reminders_are_taken_out(name: str) -> None:
    reminder = f"<{name}>\nsecret\n</{name}>\n\n"
    assert unwrap_prompt(f"{reminder}Count.\n{reminder} Twice.\n{reminder}") == "Count.\nTwice.\n"
    assert unwrap_prompt(f"{reminder}{reminder}") == ""


def test_a_reminder_that_a_person_quotes_stays() -> None:
    prompt = "Why does it print <system-reminder>be brief</system-reminder> here?"
    assert unwrap_prompt(prompt) == prompt


def test_marks_of_a_wrapper_that_a_person_quotes_stay() -> None:
    prompt = "Rename the tag:\n<pr_description>\nfoo\n</pr_description>\nin the template."
    assert unwrap_prompt(prompt) == prompt


def test_the_frame_of_an_editor_is_taken_off() -> None:
    prompt = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix it.\n"
    assert unwrap_prompt(prompt) == "Fix it.\n"


def test_a_reminder_without_an_end_stays() -> None:
    assert unwrap_prompt("Count. <system-reminder>not closed") == "Count. <system-reminder>not closed"


def test_context_behind_a_reminder_is_no_task() -> None:
    assert unwrap_prompt("<system-reminder>x</system-reminder>\n<environment_context>\n</environment_context>") == ""


def test_a_prompt_that_was_sent_twice_counts_once() -> None:
    assert task_of(["Count.", " Count.\n", "Twice.", TERMINUS.replace("{}", "Count.")]) == Task("Count.\n\nTwice.")


def test_nothing_said_is_no_task() -> None:
    assert task_of([]) is None
    assert task_of(["", " \n"]) is None


def test_the_name_is_kept() -> None:
    assert task_of(["Count."], "count-words") == Task("Count.", "count-words")


def test_reminders_without_end_take_no_time() -> None:
    prompt = "<system-reminder>" * 50_000
    assert unwrap_prompt(prompt) == prompt
    assert_within(5, lambda: unwrap_prompt(prompt))


def observed(text: str, origin: Origin = "user") -> list[tuple[str, str, bool]]:
    builder = StepBuilder(source=Source("made"))
    builder.observe(text, origin=origin)
    return [(seen.origin, seen.text, seen.is_request) for seen in builder.observations]


@pytest.mark.parametrize("beginning", [*INSERTED, *CORRECTIONS])
def test_what_a_program_says_in_a_persons_place_is_the_systems(beginning: str) -> None:
    assert observed(f"{beginning} and more") == [("system", f"{beginning} and more", False)]


@pytest.mark.parametrize("name", REMINDERS)
def test_a_reminder_among_the_words_of_a_person_is_told_apart(name: str) -> None:
    reminder = f"<{name}>The user opened a file.</{name}>"
    assert observed(f"Sort it.\n{reminder}\nby date") == [
        ("system", reminder, False),
        ("user", "Sort it.\nby date", True),
    ]
    assert observed(reminder) == [("system", reminder, False)]
    quoted = f"What does {reminder} mean?"
    assert observed(quoted) == [("user", quoted, True)]


def test_a_correction_is_no_tools_result() -> None:
    assert observed("Previous response had parsing errors:\nno JSON", "tool")[0][0] == "system"
