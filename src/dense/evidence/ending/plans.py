"""The plans that agents keep by tools of their own: items, each with a status."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct

from dense.knowledge.tools import ITEM_FIELDS, NOT_STARTED, known_tool, plain_name
from dense.trajectory import Step

MAX_ITEMS = 50


class PlanItem(Struct, frozen=True):
    """One item of a plan."""

    status: str
    words: str

    @property
    def is_waiting(self) -> bool:
        """Whether it was not started."""
        return self.status in NOT_STARTED and bool(self.words)

    @property
    def is_done(self) -> bool:
        """Whether it was finished, or is no item with a status."""
        return not self.words or self.status in ("", "completed", "complete", "done", "cancelled", "skipped")


def plan_items(step: Step) -> Iterator[PlanItem]:
    """The items of a plan that a step writes."""
    for call in step.calls:
        if "plans" not in known_tool(plain_name(call.name)).traits:
            continue
        for value in call.arguments.values():
            for item in cast("list[Any]", value)[:MAX_ITEMS] if isinstance(value, list) else ():
                if isinstance(item, dict):
                    entry = cast("dict[str, Any]", item)
                    words = next((entry[name] for name in ITEM_FIELDS if isinstance(entry.get(name), str)), "")
                    yield PlanItem(str(entry.get("status", "")).lower().replace(" ", "_").replace("-", "_"), words)
