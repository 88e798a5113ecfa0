"""Titles and summaries made from the actions themselves, for what no analyst described."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.analysis.actions.step_effects import commands
from dense.text.clip import clip_end
from dense.trajectory import Task
from dense.tree import Leaf, Node, leaves

MAX_TITLE_CHARS = 80
MAX_SUMMARY_CHARS = 600
HASH = re.compile(r"[0-9a-f][0-9a-f-]{14,}[0-9a-f]")


def fallback_title(members: Sequence[Node]) -> str:
    """What the stretch begins with, and how long it is."""
    actions = leaves(*members)
    first = _describe(actions[0])
    return clip_end(f"{first}, {len(actions)} actions" if len(actions) > 1 else first, MAX_TITLE_CHARS)


def fallback_summary(members: Sequence[Node]) -> str:
    """The commands and titles in order, shortened."""
    parts = [_describe(node) if isinstance(node, Leaf) else node.title for node in members]
    return clip_end("; ".join(parts), MAX_SUMMARY_CHARS)


def task_title(task: Task | None) -> str:
    """The task's name, or its first line if the name is only a hash."""
    if task is None or not task.name:
        return "the whole attempt"
    if HASH.fullmatch(task.name) is None:
        return task.name
    line = next((line for line in task.instruction.split("\n") if line.strip()), "").strip()
    return clip_end(line, MAX_TITLE_CHARS) or task.name


def _describe(leaf: Leaf) -> str:
    """One action in a few words: its command, its tool, or its message."""
    run = commands(leaf.step)
    if run:
        return clip_end(" ".join(run[0].split()), MAX_TITLE_CHARS)
    if leaf.step.calls:
        return leaf.step.calls[0].name
    return clip_end(" ".join(leaf.step.message.split()) or "an action without words", MAX_TITLE_CHARS)
