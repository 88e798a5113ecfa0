"""The instruction itself, out of what the agent was sent.

Agents wrap the instruction in a prompt of their own, and some send context before it: the working folder, the project's
notes, reminders. Both are known by their fixed marks. Where no mark is found, the text is taken as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dense.knowledge.harnesses import CORRECTIONS, INSERTED, NO_REQUEST, REMINDERS
from dense.trajectory import Task

WRAPPERS = (
    # Terminus-2. The end is searched from behind: a task may quote an earlier terminal state.
    ("You are an AI assistant tasked with", "\nTask Description:\n", "\n\nCurrent terminal state:\n"),
    # OpenHands without function calling, after its worked example.
    (
        "Here's a running example",
        "- NEW TASK DESCRIPTION ---------------------\n",
        "\n--------------------- END OF NEW TASK",
    ),
    # mini-swe-agent, SWE-agent and OpenHands on SWE-bench, by the configuration used.
    ("<pr_description>", "<pr_description>\nConsider the following PR description:\n", "\n</pr_description>"),
    ("<pr_description>", "<pr_description>\n", "\n</pr_description>"),
    ("<uploaded_files>", "<pr_description>\n", "\n</pr_description>"),
    ("<uploaded_files>", "<issue_description>\n", "\n</issue_description>"),
    ("Please solve this issue: ", "Please solve this issue: ", "\n\nYou can execute bash commands"),
    # Codex in an editor.
    ("# Context from my IDE setup:", "\n## My request for Codex:\n", ""),
)
"""How a wrapped prompt begins, and what is right before and right after the instruction in it."""

_SPACE = re.compile(r"\s*")


def unwrap_prompt(prompt: str) -> str:
    """The instruction in a prompt, "" if the prompt is only context."""
    prompt = without_reminders(prompt)
    if prompt.lstrip().startswith((*INSERTED, *CORRECTIONS)):
        return ""
    for beginning, before, after in WRAPPERS:
        if not prompt.lstrip().startswith(beginning):
            continue
        start = prompt.find(before)
        end = prompt.rfind(after) if after else len(prompt)
        if start >= 0 and start + len(before) <= end:
            return prompt[start + len(before) : end]
    return prompt if prompt.strip() else ""


def without_reminders(text: str) -> str:
    """The text without what the program put among the words of a person."""
    return told_apart(text)[0]


def told_apart(text: str) -> tuple[str, str]:
    """The words of a person, and what the program put among them."""
    inserted: list[str] = []
    for name in REMINDERS if "<" in text else ():
        if f"<{name}>" in text:
            text = _without(text, f"<{name}>", f"</{name}>", inserted)
    return text, "\n".join(inserted)


def _without(text: str, opening: str, closing: str, removed: list[str]) -> str:
    """The text without these elements and the space behind them. A pattern would look for a missing end again and
    again."""
    kept: list[str] = []
    offset = 0
    while (start := text.find(opening, offset)) >= 0 and (end := text.find(closing, start)) >= 0:
        if start and text[start - 1] not in "\n>":  # quoted by a person, in the middle of a line
            kept.append(text[offset : start + len(opening)])
            offset = start + len(opening)
            continue
        kept.append(text[offset:start])
        removed.append(text[start : end + len(closing)])
        space = _SPACE.match(text, end + len(closing))
        offset = space.end() if space else end + len(closing)
    return "".join((*kept, text[offset:]))


def task_of(prompts: Iterable[str], name: str | None = None) -> Task | None:
    """The task in what was sent before the first action; a prompt that was sent twice counts once."""
    prompts_by_text: dict[str, str] = {}
    for prompt in prompts:
        if text := unwrap_prompt(prompt):
            prompts_by_text.setdefault(text.strip(), text)
    return Task("\n\n".join(prompts_by_text.values()), name) if prompts_by_text else None


def request_of(text: str) -> str:
    """What a person asks for in a message, "" if that is nothing."""
    asked = unwrap_prompt(text)
    return "" if asked.lstrip().startswith(NO_REQUEST) else asked


def is_inserted(text: str) -> bool:
    """Whether a program put a message in a person's place: reminders, corrections, context, a summary."""
    own = without_reminders(text).lstrip()
    return own.startswith((*INSERTED, *CORRECTIONS)) or (bool(text.strip()) and not own)
