"""The agent's own list of what to do, where it still holds what was never begun."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from dense.detectors.finding import Finding
from dense.evidence.ending.done import is_shown_done
from dense.evidence.trace import Case
from dense.knowledge.tools import known_tool, plain_name
from dense.narrate.quoting import listed
from dense.text.quoting import quoted
from dense.trajectory import Step

WAITING = frozenset({"pending", "todo", "not_started", "open", "queued"})
"""How the tools of the usual agents mark what was not begun."""
WORDS = ("content", "step", "title", "description", "text", "task", "name")
"""Fields in which they keep what is to be done."""
MOST = 50
BY_STRUCTURE = 2
"""How an action opens that writes such a list."""


def left_of_plan(case: Case) -> list[Finding]:
    """What the last list marks as not begun, where the agent hands over all the same."""
    lists = [fact.action for fact in case.facts if fact.topic_change == BY_STRUCTURE]
    if not lists or case.ending.kind != "handed_over":
        return []
    for number in reversed(lists):
        if not (items := list(_items(case.step(number)))):
            continue
        left = [words for status, words in items if status in WAITING and words]
        if not left or is_shown_done(case):
            return []
        text = f"The agent's own list, last written at a{number}, still has as not begun: "
        text += f"{listed([quoted(words, 80) for words in left], 4)}."
        return [Finding("planned", text, (number,), is_serious=False)]
    return []


def _items(step: Step) -> Iterator[tuple[str, str]]:
    """The entries of a list that a step writes: status and words."""
    for call in step.calls:
        if "plans" not in known_tool(plain_name(call.name)).traits:
            continue
        for value in call.arguments.values():
            for item in cast("list[Any]", value)[:MOST] if isinstance(value, list) else ():
                if isinstance(item, dict):
                    entry = cast("dict[str, Any]", item)
                    words = next((entry[name] for name in WORDS if isinstance(entry.get(name), str)), "")
                    yield str(entry.get("status", "")).lower().replace(" ", "_").replace("-", "_"), words
