"""The nested report as one list: the same blocks with the same words, side by side in the order of reading."""

from __future__ import annotations

from collections.abc import Iterator

from dense.deliver import markup
from dense.deliver.markup import MARKER_GUIDE, MarkupBlock

LIFTED_TAGS = frozenset({"task", "shortcut", "key-action"})
"""Blocks that are nested in the report of DENSE, and side by side here."""
DROPPED_ATTRIBUTES = frozenset({"source"})
"""Attributes that only describe the nesting."""

GUIDE = (
    """\
How to read it:
- A list in the order of the attempt. The first `task` is the whole: what was reached, each `open-issue` that is left to
  do, and `lessons` on what failed and what worked. The others are its parts.
- `state` is what the attempt itself shows, not a grader's word: `complete` was seen to be done; `incomplete` lacks
  something; `broken` went wrong or contradicts itself; `unknown` cannot be told. Check anew whatever you rely on.
- A `shortcut` draws several tries together; its `outcome` is that of these tries, not of the task.
- A `key-action` quotes an action and what came back, word for word, and `role` tells why it was picked. What is marked
  `omitted` was too long to quote.
- n1, a2, shortcut_0 and issue_0 are names within the report. A name without a block of its own was left out for length.
"""
    + MARKER_GUIDE
)


def flat_report(report: MarkupBlock) -> MarkupBlock:
    """The report with its blocks lifted out of one another. Never larger: all that changes is indentation."""
    children = report.content if isinstance(report.content, tuple) else ()
    return markup.with_children(report, [entry for child in children for entry in _entries(child)])


def _entries(block: MarkupBlock) -> Iterator[MarkupBlock]:
    """A block without the blocks that are lifted out of it, then those."""
    if block.name == "key-action" or not isinstance(block.content, tuple):
        yield block
        return
    own = [child for child in block.content if child.name not in LIFTED_TAGS]
    yield markup.with_children(block, own, without=DROPPED_ATTRIBUTES)
    for child in block.content:
        if child.name in LIFTED_TAGS:
            yield from _entries(child)
