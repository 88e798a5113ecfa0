"""The agent's own plan, if it still lists items that were never started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from dense.detectors.finding import Finding, FindingCode
from dense.detectors.registry import Detector
from dense.evidence.trace import TraceEvidence
from dense.knowledge.tools import known_tool, plain_name
from dense.trajectory import Step

PLAN_UNFINISHED = FindingCode(
    "plan_unfinished",
    "The agent's own plan still lists items as not started.",
    "doubt",
    covers_failures=False,
)
NOT_STARTED = frozenset({"pending", "todo", "not_started", "open", "queued"})
"""How the planning tools of common agents mark an item that was not started."""
ITEM_FIELDS = ("content", "step", "title", "description", "text", "task", "name")
"""Fields in which they keep the words of an item."""
MAX_ITEMS = 50


def unfinished_plan(evidence: TraceEvidence) -> Iterator[Finding]:
    """What the last plan marks as not started when the agent hands over."""
    if evidence.ending.kind != "handed_over":
        return
    for action in range(len(evidence.steps), 0, -1):
        if items := list(_items(evidence.step(action))):
            if waiting := tuple(words for status, words in items if status in NOT_STARTED and words):
                yield PLAN_UNFINISHED.found("", action, items=waiting)
            return


def _items(step: Step) -> Iterator[tuple[str, str]]:
    """The items of a plan that a step writes: status and words."""
    for call in step.calls:
        if "plans" not in known_tool(plain_name(call.name)).traits:
            continue
        for value in call.arguments.values():
            for item in cast("list[Any]", value)[:MAX_ITEMS] if isinstance(value, list) else ():
                if isinstance(item, dict):
                    entry = cast("dict[str, Any]", item)
                    words = next((entry[name] for name in ITEM_FIELDS if isinstance(entry.get(name), str)), "")
                    yield str(entry.get("status", "")).lower().replace(" ", "_").replace("-", "_"), words


DETECTOR = Detector(unfinished_plan, (PLAN_UNFINISHED,))
